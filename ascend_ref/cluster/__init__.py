"""What an analysis of all ranks computes from their databases: cluster_analysis.db."""

from __future__ import annotations

from .ranks import Rank as Rank
from .ranks import rank_of as rank_of
from .ranks import ranks_below as ranks_below
from .tables import cluster_tables as cluster_tables
from .write import write_cluster_analysis as write_cluster_analysis
from .write import write_cluster_database as write_cluster_database
