"""What was done to answer, as a tree of spans: for people, and for OpenTelemetry.

Code that works opens spans; nobody need be listening, and then a span costs next to nothing.
``collecting`` keeps them for whoever asked; OpenTelemetry gets them wherever it is configured.
"""

from chapterhouse.telemetry.operations import *
from chapterhouse.telemetry.spans import *
