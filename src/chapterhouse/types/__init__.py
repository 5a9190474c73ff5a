"""The values that travel through Chapterhouse: frozen, standard library only.

Offsets are counts of Unicode code points into ``Body.text`` (the canonical text of a document),
half open: ``text[start:end]``. Times are whole seconds since 1970 in UTC. Hashes are lower-case
hexadecimal SHA-256.
"""

from chapterhouse.types.access import *
from chapterhouse.types.analytics import *
from chapterhouse.types.answers import *
from chapterhouse.types.asking import *
from chapterhouse.types.documents import *
from chapterhouse.types.jobs import *
from chapterhouse.types.minutes import *
from chapterhouse.types.sources import *
from chapterhouse.types.state import *
from chapterhouse.types.writing import *
