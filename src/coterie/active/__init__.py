"""Ask the right question: sessions, strategies, oracles and the answer log."""

from coterie.active.annotators import AnnotatorTable
from coterie.active.calling import Program
from coterie.active.calls import Call, CallLog
from coterie.active.chat_client import ChatClient
from coterie.active.consolidate import Consolidate, ExploreConsolidate
from coterie.active.doubts import SuspectAnswer, broken_answers, suspect_answers
from coterie.active.explore import Explore
from coterie.active.forecast import Forecast
from coterie.active.information import InformationGain
from coterie.active.learning_curve import LearningCurve, learning_curve
from coterie.active.leases import Lease, Leases
from coterie.active.min_max import MinMax
from coterie.active.npu import NPU
from coterie.active.oracles import (
    CallableOracle,
    LabelOracle,
    Reply,
    answer_all,
    answer_all_async,
)
from coterie.active.programs import RunReport, run_programs, run_programs_async
from coterie.active.query import Answer, Query, SetQuery
from coterie.active.random_pairs import RandomPairs
from coterie.active.record_questions import RecordQuestions
from coterie.active.refits import BackgroundRefits, FitState
from coterie.active.registry import STRATEGIES, make_strategy, register_strategy
from coterie.active.row_ids import RowChanges
from coterie.active.session import ActiveSession
from coterie.active.store import AnswerStore
from coterie.active.strategy import Context, Planner, Strategy
from coterie.active.text_oracle import Completion, TextOracle
from coterie.active.turns import Turn, Turns

__all__ = [
    "NPU",
    "STRATEGIES",
    "ActiveSession",
    "AnnotatorTable",
    "Answer",
    "AnswerStore",
    "BackgroundRefits",
    "Call",
    "CallLog",
    "CallableOracle",
    "ChatClient",
    "Completion",
    "Consolidate",
    "Context",
    "Explore",
    "ExploreConsolidate",
    "FitState",
    "Forecast",
    "InformationGain",
    "LabelOracle",
    "LearningCurve",
    "Lease",
    "Leases",
    "MinMax",
    "Planner",
    "Program",
    "Query",
    "RandomPairs",
    "RecordQuestions",
    "Reply",
    "RowChanges",
    "RunReport",
    "SetQuery",
    "Strategy",
    "SuspectAnswer",
    "TextOracle",
    "Turn",
    "Turns",
    "answer_all",
    "answer_all_async",
    "broken_answers",
    "learning_curve",
    "make_strategy",
    "register_strategy",
    "run_programs",
    "run_programs_async",
    "suspect_answers",
]
