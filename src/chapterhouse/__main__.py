"""``python -m chapterhouse``."""

from chapterhouse.interfaces.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
