"""A small client of the language server, for measurements and editors. Does not check answers."""

import json
import os
import subprocess
import threading
import queue


class Client:
    def __init__(self, program, root, options=None):
        self.root = root
        self.process = subprocess.Popen([program, "lsp", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.next = 0
        self.answers = {}
        self.diagnostics = {}
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {
            "general": {"positionEncodings": ["utf-16"]},
            "textDocument": {"publishDiagnostics": {}, "completion": {"completionItem": {"snippetSupport": True}}},
            "workspace": {},
        }
        uri = "file://" + root
        self.ask("initialize", {
            "processId": os.getpid(), "rootUri": uri, "capabilities": capabilities,
            "workspaceFolders": [{"uri": uri, "name": "bench"}], "initializationOptions": options or {},
        })
        self.tell("initialized", {})

    def _read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while True:
                line = stream.readline()
                if not line:
                    self.messages.put(None)
                    return
                line = line.strip()
                if not line:
                    break
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.messages.put(json.loads(stream.read(length)))

    def write(self, message):
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, method, params):
        self.next += 1
        self.write({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        return self.next

    def step(self, timeout=300):
        message = self.messages.get(timeout=timeout)
        if message is None:
            raise SystemExit("the server ended")
        if "method" in message and "id" in message:
            self.write({"jsonrpc": "2.0", "id": message["id"], "result": None})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "id" in message:
            self.answers[message["id"]] = message
        return message

    def ask(self, method, params):
        number = self.send(method, params)
        while number not in self.answers:
            self.step()
        answer = self.answers.pop(number)
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def wait_for_diagnostics(self):
        """Waits for the next diagnostics."""
        while self.step().get("method") != "textDocument/publishDiagnostics":
            pass

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(timeout=30)
