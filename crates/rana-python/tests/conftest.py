"""What the tests share: a run that was learned once."""

import pathlib

import pytest

import rana

FIVE = [
    ("bacterium", "pathologic_function"),
    ("fungus", "disease_or_syndrome"),
    ("antibiotic", "congenital_abnormality"),
    ("enzyme", "neoplastic_process"),
    ("food", "acquired_abnormality"),
]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: learns several times; left out by scripts/python_tests.sh --quick")


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A directory learned from UMLS without the relation `causes`."""
    out = tmp_path_factory.mktemp("learned") / "umls"
    rana.learn(rana.Graph.umls(), out, leave_out=["causes"]).close()
    return out


@pytest.fixture
def predictor(learned: pathlib.Path) -> rana.Predictor:
    return rana.Predictor(learned)
