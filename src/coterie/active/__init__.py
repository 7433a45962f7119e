"""Ask the right question: sessions, strategies, oracles and the answer log."""

from coterie.active.annotators.calling import Program
from coterie.active.annotators.calls import Call, CallLog
from coterie.active.annotators.chat_client import ChatClient
from coterie.active.annotators.leases import Lease, Leases
from coterie.active.annotators.oracles import (
    CallableOracle,
    LabelOracle,
    Reply,
    answer_all,
    answer_all_async,
)
from coterie.active.annotators.programs import RunReport, run_programs, run_programs_async
from coterie.active.annotators.rates import AnnotatorTable
from coterie.active.annotators.text_oracle import Completion, TextOracle
from coterie.active.annotators.turns import Turn, Turns
from coterie.active.background_refits import BackgroundRefits, FitState
from coterie.active.doubts import SuspectAnswer, broken_answers, suspect_answers
from coterie.active.forecast import Forecast
from coterie.active.information.information_gain import InformationGain
from coterie.active.learning_curve import LearningCurve, learning_curve
from coterie.active.log.row_ids import RowChanges
from coterie.active.log.store import AnswerStore
from coterie.active.query import Answer, Query, SetQuery
from coterie.active.session import ActiveSession
from coterie.active.strategies.consolidate import Consolidate, ExploreConsolidate
from coterie.active.strategies.explore import Explore
from coterie.active.strategies.min_max import MinMax
from coterie.active.strategies.npu import NPU
from coterie.active.strategies.random_pairs import RandomPairs
from coterie.active.strategies.record_questions import RecordQuestions
from coterie.active.strategies.registry import STRATEGIES, make_strategy, register_strategy
from coterie.active.strategies.strategy import Context, Planner, Strategy

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
