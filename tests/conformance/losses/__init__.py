"""Ways in which a part of a profile gets lost: small named functions that take it away.

Each function changes a copy and returns what is gone, in words, or None where the copy has none of
it. To add one, write it with the decorator of its medium, whose arguments are the words of which a
finding has to call one lost.

None of them takes what leaves no trace that an independent reader could see:

- calls of the host that nothing else has the number of, and on a timeline alone the first calls,
  since real captures begin with tasks of calls that are older than their window;
- tasks of which no call that is left has the number, on a timeline: event records and waits;
- the first and the last records of memory, and levels at whose time nothing was taken: the
  allocator worked before and after the capture;
- layers that some writers, products or switches leave out (:data:`timelines.FREE_LAYERS`), rows of
  l2_cache.csv, which real files have of some operators only, and single arrows fwdbwd, which real
  files draw for 27 of 43 backward operators;
- the first or the last step of a timeline alone;
- a file of a folder msprof wrote, and the device's side of it: which files were exported stands
  nowhere;
- tables that nothing refers to and a switch or a writer decides on (:data:`databases.FREE_TABLES`);
- files that a switch alone decides on (:data:`texts.FREE_FILES`);
- times of a sampler that took fewer than 30;
- a rank where no file that is left names it.
"""

from . import databases as databases
from . import texts as texts
from . import timelines as timelines
from .model import DATABASE as DATABASE
from .model import TEXT as TEXT
from .model import TIMELINE as TIMELINE
from .model import Loss as Loss
