"""Writes the table of trials as Parquet. The library is an extra, as it takes 170 MB."""

from io import BytesIO

from swarm_bench.core.report.trials_table import TrialsTable


def render_parquet(table: TrialsTable) -> bytes:
    """Write a row for each trial, with unit and definition in the metadata of each column. Raises
    `ImportError` without the library."""
    import pyarrow
    from pyarrow import parquet

    types = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "check": pyarrow.bool_(),
        "figure": pyarrow.float64(),
    }
    schema = pyarrow.schema(
        pyarrow.field(
            column.name,
            types[column.kind],
            metadata={"unit": column.unit, "definition": column.definition},
        )
        for column in table.columns
    )
    entries = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        pyarrow.array(entry, field.type) for entry, field in zip(entries, schema, strict=True)
    ]
    file = BytesIO()
    parquet.write_table(pyarrow.table(arrays, schema=schema), file)
    return file.getvalue()
