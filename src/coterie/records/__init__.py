"""Records of the same person, place or product: many small clusters, their number unknown."""

from coterie.records.classes import PairClasses
from coterie.records.dossier import Dossier
from coterie.records.explaining import PairExplanation
from coterie.records.fields import KINDS, Field, read_fields
from coterie.records.learning import Belief

__all__ = ["KINDS", "Belief", "Dossier", "Field", "PairClasses", "PairExplanation", "read_fields"]
