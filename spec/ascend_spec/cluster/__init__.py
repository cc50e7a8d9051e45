"""cluster_analysis.db: what an analysis computes from the databases of all ranks."""

from .catalog import ClusterCatalog as ClusterCatalog
from .catalog import ClusterColumn as ClusterColumn
from .catalog import ClusterDatabase as ClusterDatabase
from .catalog import ClusterTable as ClusterTable
