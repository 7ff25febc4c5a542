"""Graphs from everything that holds triples."""

import os
import pathlib

import duckdb
import pandas
import polars
import pyarrow
import pytest
import rdflib

import rana

TRIPLES = [("paris", "capital_of", "france"), ("rome", "capital_of", "italy"), ("paris", "in", "europe")]
COLUMNS = ("head", "relation", "tail")
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def facts(graph: rana.Graph) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in graph.facts().to_pylist()]


def columns() -> dict[str, list[str]]:
    return {name: [triple[at] for triple in TRIPLES] for at, name in enumerate(COLUMNS)}


def tables() -> dict[str, object]:
    table = pyarrow.table(columns())
    strings = {
        "large": pyarrow.large_string(),
        "view": pyarrow.string_view(),
        "dictionary": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    }
    cast = {
        name: table.cast(pyarrow.schema([(column, kind) for column in COLUMNS])) for name, kind in strings.items()
    }
    return {
        "polars": polars.DataFrame(columns()),
        "categorical": polars.DataFrame(columns(), schema=dict.fromkeys(COLUMNS, polars.Categorical)),
        "pandas": pandas.DataFrame(columns()),
        "duckdb": duckdb.from_arrow(table),
        "pyarrow": table,
        "batches": pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1)),
        "sliced": pyarrow.concat_tables([table, table]).slice(3),
        "rana": rana.Graph.from_triples(TRIPLES).facts(),
        **cast,
    }


@pytest.mark.parametrize("kind", sorted(tables()))
def test_every_table_is_the_same_graph(kind: str) -> None:
    graph = rana.Graph.from_triples(tables()[kind])
    assert facts(graph) == TRIPLES
    assert (len(graph), graph.entity_count, graph.relation_count) == (3, 5, 2)


def test_triples_and_numbers() -> None:
    assert facts(rana.Graph.from_triples(TRIPLES)) == TRIPLES
    assert facts(rana.Graph.from_triples(iter([[1, 2, 3]]))) == [("1", "2", "3")]
    numbers = polars.DataFrame({"h": [1, -2], "r": [7, 7], "t": [3, 4]}, schema_overrides={"h": polars.Int8})
    assert facts(rana.Graph.from_triples(numbers)) == [("1", "7", "3"), ("-2", "7", "4")]
    named = polars.DataFrame({"a": ["x"], "b": ["r"], "c": ["y"], "more": [1.5]})
    assert facts(rana.Graph.from_triples(named, columns=("c", "b", "a"))) == [("y", "r", "x")]


def test_a_label_in_a_table_is_a_label() -> None:
    graph = rana.Graph.from_triples([*TRIPLES, ("paris", LABEL, "Paris, the town")])
    labels = {row["entity"]: row["label"] for row in graph.entities().to_pylist()}
    assert labels["paris"] == "Paris, the town" and labels["rome"] is None and len(graph) == 3


def test_rdf_from_a_file_and_from_rdflib(tmp_path: pathlib.Path) -> None:
    text = """
        @prefix e: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        e:paris e:capital_of e:france ; rdfs:label "Paris"@en ; e:people 2100000 .
    """
    file = tmp_path / "cities.ttl"
    file.write_text(text)
    parsed = rdflib.Graph().parse(data=text, format="turtle")
    dataset = rdflib.Dataset()
    dataset.graph(rdflib.URIRef("http://example.org/g")).parse(data=text, format="turtle")
    for source in [file, parsed, dataset]:
        graph = rana.Graph.from_rdf(source)
        assert facts(graph) == [tuple(f"http://example.org/{name}" for name in TRIPLES[0])]
        assert graph.entities()[0]["label"] == "Paris"
    assert len(rana.Graph.from_rdf(parsed, keep_literals=True)) == 2


def test_files_and_stores(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "facts.tsv"
    file.write_text("\n".join("\t".join(triple) for triple in TRIPLES))
    graph = rana.Graph.from_files(file)
    assert facts(graph) == TRIPLES
    graph.save(tmp_path / "kg")
    with rana.Graph.open(tmp_path / "kg") as opened:
        assert facts(opened) == TRIPLES
        assert opened.facts("in").to_pylist() == [dict(zip(COLUMNS, TRIPLES[2]))]
    assert facts(rana.Graph.from_files(os.fspath(file), str(file))) == TRIPLES
    relations = {row["relation"]: row["facts"] for row in graph.relations().to_pylist()}
    assert relations == {"capital_of": 2, "in": 1}


def test_a_closed_graph_says_so(tmp_path: pathlib.Path) -> None:
    graph = rana.Graph.from_triples(TRIPLES)
    table = graph.facts()
    graph.close()
    graph.close()
    for ask in [graph.facts, graph.relations, lambda: len(graph), lambda: graph.save(tmp_path / "kg")]:
        with pytest.raises(rana.ClosedError, match="the graph is closed"):
            ask()
    with pytest.raises(rana.ClosedError):
        rana.learn(graph, tmp_path / "out")
    assert len(table) == 3 and "closed" in repr(graph) and "closed" in graph._repr_html_()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (polars.DataFrame({"head": ["a", None], "relation": ["r", "r"], "tail": ["b", "c"]}), "row 2: the head is null"),
        (polars.DataFrame({"head": [1.5], "relation": ["r"], "tail": ["b"]}), "`head` holds Float64"),
        (polars.DataFrame({"head": [["a"]], "relation": ["r"], "tail": ["b"]}), "`head` holds"),
        (polars.DataFrame({"x": ["a"], "y": [1], "relation": ["r"], "tail": ["b"]}), "cannot tell which column holds the heads"),
        (polars.DataFrame({"head": ["a"], "relation": [""], "tail": ["b"]}), "row 1: the relation is empty"),
        (polars.DataFrame(schema=dict.fromkeys(COLUMNS, polars.String)), "empty, expected rows"),
        (pyarrow.chunked_array([["a"]]), "."),
        ([], "no facts"),
        ([("a", "r")], "row 1: expected a triple"),
        ([("a", "r", "b"), "arb"], "cannot be mixed|expected a triple"),
        ([("a", None, "b")], "row 1: the relation is of type NoneType"),
        (5, "cannot make a graph of int"),
        ("facts.tsv", "read by `Graph.from_files`"),
    ],
)
def test_bad_triples_are_refused(source: object, message: str) -> None:
    with pytest.raises(rana.DataError, match=message) as raised:
        rana.Graph.from_triples(source)
    assert isinstance(raised.value, ValueError)


def test_bad_rows_may_be_skipped() -> None:
    frame = polars.DataFrame({"head": ["a", None], "relation": ["r", "r"], "tail": ["b", "c"]})
    assert facts(rana.Graph.from_triples(frame, lenient=True)) == [("a", "r", "b")]


def test_bad_files_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(rana.FileError, match="missing.tsv"):
        rana.Graph.from_files(tmp_path / "missing.tsv")
    (tmp_path / "bad.ttl").write_text("<a> <b")
    with pytest.raises(rana.DataError, match="bad.ttl:1"):
        rana.Graph.from_files(tmp_path / "bad.ttl")
    with pytest.raises(rana.DataError, match="`nonsense` is no format"):
        rana.Graph.from_files(tmp_path / "bad.ttl", format="nonsense")
    with pytest.raises(rana.GraphError, match="not a graph store"):
        rana.Graph.open(tmp_path)


def test_a_stream_is_read_once() -> None:
    class Once:
        def __init__(self) -> None:
            self.capsule = pyarrow.table(columns()).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.capsule

    once = Once()
    assert facts(rana.Graph.from_triples(once)) == TRIPLES
    with pytest.raises(rana.DataError, match="was read already"):
        rana.Graph.from_triples(once)


def test_something_else_than_a_stream_is_refused() -> None:
    class Other:
        def __init__(self, given: object) -> None:
            self.given = given

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.given

    with pytest.raises(rana.DataError, match="something else than a capsule"):
        rana.Graph.from_triples(Other(5))
    # A capsule of another name holds something else.
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        rana.Graph.from_triples(Other(pyarrow.array([1]).__arrow_c_array__()[0]))


def test_text_that_is_not_utf_8_is_refused() -> None:
    values = pyarrow.array([b"\xff\xfe"]).view(pyarrow.string())
    with pytest.raises(rana.DataError, match="[Uu][Tt][Ff]"):
        rana.Graph.from_triples(pyarrow.table({"head": values, "relation": ["r"], "tail": ["b"]}))


def test_notebooks_show_graphs_and_tables() -> None:
    graph = rana.Graph.from_triples([("<b>", "r&d", "x")])
    assert "r&amp;d" in graph._repr_html_() and "&lt;b&gt;" in graph.facts()._repr_html_()
    assert "1 rows" in graph.facts()._repr_html_() and "Graph of 1 facts" in repr(graph)
