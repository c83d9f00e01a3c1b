# Every fifth row is for the test.
import csv
import sys

every = int(sys.argv[1])
with (
    open("/opt/ml/processing/data/iris.csv") as source,
    open("/opt/ml/processing/train/rows.csv", "w") as train,
    open("/opt/ml/processing/test/rows.csv", "w") as test,
):
    for number, row in enumerate(csv.reader(source)):
        csv.writer(test if number % every == 0 else train).writerow(row)
