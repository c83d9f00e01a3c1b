"""Find the most frequent words of the texts in the channel `text`."""

import collections
import glob
import json
import sys


def main():
    assert sys.argv[1:] == ["train"], sys.argv
    with open("/opt/ml/input/config/hyperparameters.json") as file:
        number = int(json.load(file)["words"])
    with open("/opt/program/stop-words.txt") as file:
        ignored = set(file.read().split())
    counts = collections.Counter()
    for path in glob.glob("/opt/ml/input/data/text/*"):
        with open(path) as file:
            counts.update(word for word in file.read().lower().split() if word not in ignored)
    # By count, then by name: the same data gives the same model.
    frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number]
    print("frequent words:", ", ".join(f"{word} ({count})" for word, count in frequent))
    with open("/opt/ml/model/words.json", "w") as file:
        json.dump(dict(frequent), file)


if __name__ == "__main__":
    main()
