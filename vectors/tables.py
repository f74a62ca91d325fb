"""Tables as pyarrow writes them, and what is in them: python3 vectors/tables.py (pyarrow 26.0.1).

Writes the files of vectors/tables. `people.json` has the rows as the tests expect them; it is made of the Python values, not of
the files.
"""

import datetime
import decimal
import json
import pathlib

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet

FOLDER = pathlib.Path(__file__).parent / "tables"
ROWS = 40
EPOCH = datetime.date(1970, 1, 1)
CITIES = ["Aarhus", "Bristol", "Chur"]


def columns():
    """Columns of every kind that is read, by formulas, each with the values as JSON has them."""
    rows = range(ROWS)
    day = [EPOCH + datetime.timedelta(days=18000 + 7 * k) for k in rows]
    moment = [1_600_000_000_000_000 + 1_000_003 * k for k in rows]
    price = [decimal.Decimal(k * 25 - 300) / 100 for k in rows]
    weight = [k * 0.125 - 2 for k in rows]
    return [
        ("customer_id", pa.array([10**9 + 7 * k for k in rows], pa.int64()), [10**9 + 7 * k for k in rows]),
        ("age", pa.array([18 + k for k in rows], pa.uint8()), [18 + k for k in rows]),
        ("offset", pa.array([k - 20 for k in rows], pa.int16()), [k - 20 for k in rows]),
        ("vip", pa.array([k % 3 == 0 for k in rows], pa.bool_()), [k % 3 == 0 for k in rows]),
        ("price", pa.array(price, pa.decimal128(10, 2)), [str(p) for p in price]),
        ("weight", pa.array(weight, pa.float64()), [str(w) for w in weight]),
        ("half", pa.array([k / 2 for k in rows], pa.float32()), [str(k / 2) for k in rows]),
        ("joined", pa.array(day, pa.date32()), [(d - EPOCH).days for d in day]),
        ("seen", pa.array(moment, pa.timestamp("us", tz="UTC")), moment),
        (
            "city",
            pa.array([CITIES[k % 3] for k in rows]).dictionary_encode(),
            [CITIES[k % 3] for k in rows],
        ),
        ("code", pa.array([f"{k:04}" for k in rows], pa.string()), [{"text": f"{k:04}"} for k in rows]),
        ("key", pa.array([bytes([k, 255 - k]) for k in rows], pa.binary(2)), [{"hex": f"{k:02x}{255 - k:02x}"} for k in rows]),
        ("marks", pa.array([[k, k + 1][: k % 3] for k in rows], pa.list_(pa.uint8())), [[k, k + 1][: k % 3] for k in rows]),
        (
            "address",
            pa.array([{"zip": 1000 + k, "floor": k % 5 - 1} for k in rows], pa.struct([("zip", pa.int32()), ("floor", pa.int8())])),
            [{"zip": 1000 + k, "floor": k % 5 - 1} for k in rows],
        ),
        ("remark", pa.array([f"nobody asks for it {k}" for k in rows]), None),
    ]


def main():
    made = columns()
    table = pa.table({name: array for name, array, _ in made})
    parquet.write_table(table, FOLDER / "people.parquet", row_group_size=16)
    parquet.write_table(table, FOLDER / "people-gzip.parquet", compression="gzip", version="1.0", use_dictionary=False)
    parquet.write_table(table, FOLDER / "people-zstd.parquet", compression="zstd")
    feather.write_feather(table, FOLDER / "people.feather", compression="lz4")
    with ipc.new_file(FOLDER / "people.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=16)
    with ipc.new_stream(FOLDER / "people.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=16)
    rows = [{name: values[k] for name, _, values in made if values is not None} for k in range(ROWS)]
    (FOLDER / "people.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    odd = pa.table({
        "age": pa.array([40, None, 42], pa.int32()),
        "price": pa.array([decimal.Decimal("1.50"), decimal.Decimal("19.99"), decimal.Decimal("2")], pa.decimal128(8, 2)),
        "weight": pa.array([0.5, 1.25, 0.1], pa.float64()),
        "wide": pa.array([1, 2, 300], pa.int64()),
        "name": pa.array(["a", "bc", "d"]),
        "span": pa.array([pa.scalar((1, 2, 3), pa.month_day_nano_interval()).as_py()] * 3, pa.month_day_nano_interval()),
    })
    with ipc.new_file(FOLDER / "odd.arrow", odd.schema) as writer:
        writer.write_table(odd)


if __name__ == "__main__":
    main()
