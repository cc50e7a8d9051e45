"""Ways in which a part of a profile gets lost: small named functions that take it away.

Each function changes a copy and returns what is gone, in words, or None where the copy has none of
it. To add one, write it with the decorator of its medium, whose arguments are the words of which a
finding has to call one lost.

What leaves no trace that an independent reader could see is taken as well, and counted apart
(:class:`model.Traceless`):

- calls of the host that nothing else has the number of;
- tasks of which no call that is left has the number, on a timeline: event records and waits;
- the first and the last records of memory, and levels at whose time nothing was taken: the
  allocator worked before and after the capture;
- layers that some writers, products or switches leave out (:data:`timelines.FREE_LAYERS`), and rows
  of l2_cache.csv, which real files have of some operators only;
- the first or the last step of a timeline alone;
- a file of a folder that msprof wrote without its README.txt: which files there were stands
  nowhere;
- tables that nothing refers to and a switch or a writer decides on (:data:`databases.FREE_TABLES`
  and :data:`databases.FREE_OF_MSPROF`);
- files that a switch alone decides on (:data:`texts.FREE_FILES`);
- times of a sampler that took fewer than 13.

A rank is only taken where two others are left, and the device's side only of a framework's folder.
"""

from . import databases as databases
from . import texts as texts
from . import timelines as timelines
from .model import DATABASE as DATABASE
from .model import TEXT as TEXT
from .model import TIMELINE as TIMELINE
from .model import Loss as Loss
