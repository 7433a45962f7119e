"""The experiment framework: a study is a folder with a config, a cell function and claims.

`study` reads a folder, `store` keeps finished cells, `runner` runs the others, `claims` judges
what the paper says, `figures` and `page` show it. See experiments/README.md.
"""

from lab.study import Cell, Study, find_studies, load_study
from lab.tables import Row

__all__ = ["Cell", "Row", "Study", "find_studies", "load_study"]
