"""What all families of formats share: sources, grades, errata, bounds in time and value types."""

from .bounds import DAYS as DAYS
from .bounds import Axis as Axis
from .bounds import Bounds as Bounds
from .bounds import bounds_of as bounds_of
from .facts import Alteration as Alteration
from .facts import Decision as Decision
from .facts import Erratum as Erratum
from .facts import Grade as Grade
from .facts import Source as Source
from .facts import Switch as Switch
from .facts import decisions as decisions
from .folder import Document as Document
from .folder import Folder as Folder
from .folder import SpecError as SpecError
from .folder import packaged as packaged
from .folder import parse as parse
from .loader import Loader as Loader
from .products import Capability as Capability
from .products import DataSet as DataSet
from .products import Product as Product
from .products import Products as Products
from .values import StorageClass as StorageClass
from .values import ValueType as ValueType
