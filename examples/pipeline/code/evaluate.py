# How many rows of the test the model gets right.
import csv
import json
import tarfile

with tarfile.open("/opt/ml/processing/model/model.tar.gz") as archive:
    means = json.load(archive.extractfile("means.json"))


def nearest(values):
    return min(means, key=lambda species: sum((a - b) ** 2 for a, b in zip(means[species], values, strict=True)))


with open("/opt/ml/processing/test/rows.csv") as file:
    rows = list(csv.reader(file))
right = sum(nearest([*map(float, values)]) == species for species, *values in rows)
with open("/opt/ml/processing/evaluation/evaluation.json", "w") as file:
    json.dump({"rows": len(rows), "accuracy": right / len(rows)}, file)
