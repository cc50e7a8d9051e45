"""``python -m ascend_ref`` is the command ``ascend-ref``."""

import sys

from .cli import main

sys.exit(main())
