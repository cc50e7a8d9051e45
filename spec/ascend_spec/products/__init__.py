"""Products: what each one is and can do, and which has which data under which switch.

``families/`` has one document for each product, ``capabilities.yaml`` the names of what they can
do, ``matrix.yaml`` the products, switches and sources of each set of data.
"""

from .catalog import ProductCatalog, product_catalog
from .model import Capability, DataSet, Product, WithoutValue

__all__ = ["Capability", "DataSet", "Product", "ProductCatalog", "WithoutValue", "product_catalog"]
