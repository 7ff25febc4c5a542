"""`Completer`: Arrow batch in, Arrow batch out."""

import multiprocessing
import pathlib
import pickle

import pyarrow
import pytest

import rana
from conftest import FIVE

HEADS = ["virus", "alga", "cell", "enzyme"]


def completed(completer: rana.Completer) -> list[dict[str, object]]:
    return completer(pyarrow.table({"head": HEADS})).to_pylist()


def test_batches_give_what_a_relation_gives(learned: pathlib.Path, predictor: rana.Predictor) -> None:
    expected = predictor.learn("causes", FIVE).complete(HEADS, k=3).to_pylist()
    completer = rana.Completer(learned, "causes", FIVE, k=3)
    assert completed(completer) == expected
    assert completed(pickle.loads(pickle.dumps(completer))) == expected
    batches = pyarrow.table({"n": range(4), "entity": HEADS}).to_batches(max_chunksize=1)
    mapped = rana.Completer(learned, "causes", FIVE, k=3, head_column="entity").map(iter(batches))
    assert pyarrow.Table.from_batches(mapped).to_pylist() == expected


def test_a_forked_process_opens_its_own(learned: pathlib.Path) -> None:
    completer = rana.Completer(learned, "causes", FIVE, k=3)
    expected = completed(completer)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(completed, [completer] * 4) == [expected] * 4


def test_bad_batches_are_refused(learned: pathlib.Path) -> None:
    completer = rana.Completer(learned, "causes", FIVE)
    with pytest.raises(rana.DataError, match="no column `head`; there are `entity`"):
        completer(pyarrow.table({"entity": HEADS}))
    with pytest.raises(rana.UnknownEntityError):
        completer(pyarrow.table({"head": ["no such entity"]}))
    skipping = rana.Completer(learned, "causes", FIVE, unknown="skip", k=1)
    assert len(skipping(pyarrow.table({"head": ["no such entity", "virus"]}))) == 1
    assert len(skipping(pyarrow.table({"head": pyarrow.array([], pyarrow.string())}))) == 0
