"""The Trainer of Hugging Face, then a loop with accelerate alone, as their users write them; nothing names a device.

The data is one global batch, so that the same training in one process is a few lines.
"""

import copy

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.utils import parameters_to_vector
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

SHARD, STEPS = 2, 4


class Sentences(torch.utils.data.Dataset):  # type: ignore[misc]  # torch is in the image
    def __init__(self, count: int) -> None:
        generator = torch.Generator().manual_seed(2)
        self.words = torch.randint(0, 50, (count, 6), generator=generator)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, number: int) -> "dict[str, torch.Tensor]":
        return {"input_ids": self.words[number], "labels": self.words[number, 0] % 2}


def main() -> None:
    arguments = TrainingArguments(
        output_dir="/tmp/checkpoints",
        per_device_train_batch_size=SHARD,
        per_device_eval_batch_size=SHARD,
        max_steps=STEPS,
        max_grad_norm=0.0,
        average_tokens_across_devices=False,  # else the loss of this model is multiplied by the number of processes
        save_steps=2,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=2,
        report_to=[],
        disable_tqdm=True,
    )
    rank, size = arguments.process_index, arguments.world_size
    torch.manual_seed(0)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=50,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=8,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )
    alone, second = copy.deepcopy(model), copy.deepcopy(model)
    data = Sentences(size * SHARD)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=data,
        eval_dataset=data,
        optimizers=(optimizer, torch.optim.lr_scheduler.ConstantLR(optimizer, factor=1.0)),
    )
    trainer.train()
    judged = trainer.evaluate()
    trainer.save_model("/opt/ml/model")

    optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)
    batch = torch.utils.data.default_collate(list(data))
    for _ in range(STEPS):
        optimizer.zero_grad()
        alone(**batch).loss.backward()
        optimizer.step()
    expected = alone(**batch).loss.item()

    say(
        f"trainer: rank {rank} of {size} local {arguments.local_process_index} {dist.get_backend()} {arguments.device} "
        f"{arguments.parallel_mode.name}: {compared(model, alone)} loss {abs(judged['eval_loss'] - expected) < 1e-5}"
    )

    accelerator = Accelerator()
    loader = torch.utils.data.DataLoader(data, batch_size=SHARD)
    prepared, optimizer, loader = accelerator.prepare(second, torch.optim.SGD(second.parameters(), lr=0.1), loader)
    for _ in range(STEPS):
        for part in loader:
            optimizer.zero_grad()
            accelerator.backward(prepared(**part).loss)
            optimizer.step()
    accelerator.wait_for_everyone()
    gathered = accelerator.gather(torch.tensor([accelerator.process_index])).tolist()
    say(
        f"accelerate: rank {rank} of {accelerator.num_processes} on {accelerator.device}: {compared(second, alone)} "
        f"gathered {gathered}"
    )
    dist.barrier()
    dist.destroy_process_group()


def compared(model: torch.nn.Module, alone: torch.nn.Module) -> str:
    own = parameters_to_vector(model.parameters()).detach()
    of_all = [torch.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(of_all, own)
    equal = all(torch.equal(own, each) for each in of_all)
    difference = (own - parameters_to_vector(alone.parameters())).abs().max().item()
    return f"equal {equal} alone {difference < 1e-6}"


def say(text: str) -> None:
    # One piece, because the lines of all processes come together in one log.
    print(f"{text}\n", end="", flush=True)  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()
