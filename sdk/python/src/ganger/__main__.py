"""``python -m ganger``."""

from .cli import main

raise SystemExit(main())
