"""Measures the language server: python3 bench.py PROGRAM. Writes a table. The input resembles the Mappings of a platform team."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from client import Client

PROGRAM = sys.argv[1]
# What an issue asks for, in milliseconds: first diagnostics, key press, hover, completion; and megabytes.
LIMITS = {1000: (500, 100, 10, 30, None), 10000: (1500, 300, 20, 60, 300)}
ROUNDS = 15


def mapping(number):
    host = number % 12
    lines = [
        "---", "apiVersion: getambassador.io/v3alpha1", "kind: Mapping", "metadata:", f"  name: route-{number}", "  namespace: shop", "spec:",
        f"  hostname: shop{host}.example.com", f"  prefix: /service-{number}/", f"  service: service-{number % 400}.shop:8080", "  timeout_ms: 4000",
    ]
    if number % 5 == 0:
        lines += ["  headers: {x-version: \"2\"}"]
    if number % 7 == 0:
        lines += ["  rewrite: /v2/", "  retry_policy: {retry_on: 5xx, num_retries: 2}"]
    if number % 97 == 0:
        lines += ["  timout_ms: 1"]
    return "\n".join(lines) + "\n"


def write(folder, count):
    """Writes files of 50 objects each."""
    head = ["apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: web, namespace: shop}\nspec: {port: 8080, protocol: HTTP, "
            "securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n"]
    head += [f"---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {{name: shop-{at}, namespace: shop}}\nspec: {{hostname: "
             f"shop{at}.example.com, requestPolicy: {{insecure: {{action: Route}}}}}}\n" for at in range(12)]
    (folder / "hosts.yaml").write_text("".join(head))
    for first in range(0, count, 50):
        (folder / f"mappings-{first:05}.yaml").write_text("".join(mapping(number) for number in range(first, min(first + 50, count))))


def resident(process):
    """The largest memory of a process, in megabytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


def timed(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def measure(count):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write(folder, count)
        start = time.perf_counter()
        client = Client(PROGRAM, str(folder))
        client.wait_for_diagnostics()
        first = (time.perf_counter() - start) * 1000
        path = folder / "mappings-00000.yaml"
        uri, text = "file://" + str(path), path.read_text()
        client.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        lines = text.split("\n")
        line = next(at for at, content in enumerate(lines) if content.startswith("  timeout_ms"))
        keys, hovers, completions = [], [], []
        for round_ in range(ROUNDS):
            # The second key makes a finding, the next removes it: diagnostics come after each.
            new = "timeout_mz" if round_ % 2 == 0 else "timeout_ms"
            edit = {"range": {"start": {"line": line, "character": 2}, "end": {"line": line, "character": 12}}, "text": new}

            def press():
                client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": round_ + 2}, "contentChanges": [edit]})
                client.wait_for_diagnostics()

            keys.append(timed(press))
            at = {"textDocument": {"uri": uri}, "position": {"line": line + 14, "character": 4}}
            # The first hover after an edit builds an index, as for a user who stops to read.
            hovers.append(timed(lambda: client.ask("textDocument/hover", at)))
            value = {"textDocument": {"uri": uri}, "position": {"line": line - 1, "character": len("  service: ser")}}
            completions.append(timed(lambda: client.ask("textDocument/completion", value)))
        memory = resident(client.process)
        client.end()
        return first, statistics.median(keys), statistics.median(hovers), statistics.median(completions), memory


def main():
    print("| objects | first diagnostics | key press to diagnostics | hover | completion | memory |")
    print("|---|---|---|---|---|---|")
    wrong = []
    for count, limits in LIMITS.items():
        found = measure(count)
        units = ["ms", "ms", "ms", "ms", "MB"]
        print(f"| {count} | " + " | ".join(f"{value:.0f} {unit}" for value, unit in zip(found, units)) + " |", flush=True)
        names = ["first diagnostics", "key press", "hover", "completion", "memory"]
        wrong += [f"{count} objects: {name} {value:.0f}, limit {limit}" for name, value, limit in zip(names, found, limits) if limit and value > limit]
    for line in wrong:
        print(line)


main()
