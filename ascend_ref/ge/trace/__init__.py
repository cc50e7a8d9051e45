"""What is inserted into a graph for its training trace, and what a graph is read from."""

from .graph import Graph as Graph
from .graph import Node as Node
from .graph import UnusableGraph as UnusableGraph
from .insert import Asked as Asked
from .insert import Insertion as Insertion
from .insert import Task as Task
from .insert import insert as insert
from .points import Points as Points
from .read import read_graph as read_graph
