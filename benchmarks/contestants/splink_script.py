"""splink, run by an environment of its own: tables as JSON on stdin, linked pairs as JSON on stdout.

Called by `benchmarks.linkage` with `build/splink/bin/python` (a venv with `splink`). The settings are what
its tutorials begin with, for tables of any columns: nothing is chosen for a set.
"""

import json
import sys

import pandas
import splink.comparison_library as library
from splink import Linker, SettingsCreator, block_on
from splink.backends.duckdb import DuckDBAPI

_MOST_TRAINED, _MOST_ALIKE = 3, 200


def _frame(rows: list[dict[str, str]], columns: list[str]) -> pandas.DataFrame:
    values = {
        f"c{n}": [str(row.get(name) or "").casefold().strip() or None for row in rows]
        for n, name in enumerate(columns)
    }
    return pandas.DataFrame({"unique_id": range(len(rows)), **values})


def main() -> None:
    """Link what is on stdin."""
    asked = json.load(sys.stdin)
    left, right = asked["left"], asked["right"]
    columns = [name for name in left[0] if right is None or name in right[0]]
    frames = [_frame(left, columns)] + ([] if right is None else [_frame(right, columns)])
    columns = [f"c{n}" for n in range(len(columns)) if all(frame[f"c{n}"].notna().any() for frame in frames)]
    rules = [block_on(name) for name in columns] + [block_on(f"substr({name}, 1, 4)") for name in columns]
    # Values that very many share would make too many pairs.
    rare = [
        rule
        for rule, name, prefix in zip(
            rules, columns * 2, [False] * len(columns) + [True] * len(columns), strict=True
        )
        if max((frame[name].str[:4] if prefix else frame[name]).value_counts().max() for frame in frames)
        <= _MOST_ALIKE
    ]
    settings = SettingsCreator(
        link_type="dedupe_only" if right is None else "link_only",
        comparisons=[
            library.JaroWinklerAtThresholds(name, [0.92, 0.8]).configure(term_frequency_adjustments=True)
            for name in columns
        ],
        blocking_rules_to_generate_predictions=rare or rules[:1],
    )
    api = DuckDBAPI()
    tables = [api.register(frame, dataset_display_name=f"t{n}") for n, frame in enumerate(frames)]
    linker = Linker(tables, settings, log_level=50)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in (rare or rules[:1])[:_MOST_TRAINED]:
        try:
            linker.training.estimate_parameters_using_expectation_maximisation(rule)
        except Exception as failed:  # noqa: BLE001  # a column may say too little to train by
            print(failed, file=sys.stderr)
    found = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    pairs = found[["unique_id_l", "unique_id_r"]].itertuples(index=False)
    ordered = [[min(pair), max(pair)] if right is None else list(pair) for pair in pairs]
    print(json.dumps([[int(one), int(other)] for one, other in ordered]))


if __name__ == "__main__":
    main()
