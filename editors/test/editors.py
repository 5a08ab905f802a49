"""Tests the language server in a real editor: python3 editors.py nvim|emacs SERVER."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent

NVIM = """
local function fail(why) vim.fn.writefile({"FAILED: " .. why}, "result"); vim.cmd("cquit 1") end
local ok, why = pcall(function()
  vim.cmd("edit sample.yaml")
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({
    name = "chancery", cmd = { "SERVER", "lsp" }, root_dir = vim.fn.getcwd(),
    init_options = { settings = { yamlErrors = false } },
  })
  assert(id, "the client does not start")
  assert(vim.wait(20000, function() return vim.lsp.get_client_by_id(id) ~= nil and vim.lsp.get_client_by_id(id).initialized end), "no answer")
  vim.lsp.buf_attach_client(buffer, id)
  local function codes()
    local all = {}
    for _, one in ipairs(vim.diagnostic.get(buffer)) do all[one.code or (one.user_data and one.user_data.lsp.code) or "?"] = one end
    return all
  end
  assert(vim.wait(20000, function() return codes()["unknown-field"] ~= nil end), "no diagnostics")
  local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
    assert(answers and answers[id], method .. ": no answer")
    assert(not answers[id].error, method .. ": " .. vim.inspect(answers[id].error))
    return answers[id].result
  end
  local at = { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = 24, character = 4 } }
  local hover = ask("textDocument/hover", at)
  assert(hover.contents.value:find("timeout_ms", 1, true), "hover: " .. vim.inspect(hover))
  local range = { start = { line = 25, character = 3 }, ["end"] = { line = 25, character = 3 } }
  local actions = ask("textDocument/codeAction", { textDocument = at.textDocument, range = range, context = { diagnostics = {} } })
  local fix
  for _, action in ipairs(actions) do if action.title:find("Rename") then fix = action end end
  assert(fix, "no fix: " .. vim.inspect(actions))
  vim.lsp.util.apply_workspace_edit(fix.edit, "utf-16")
  assert(vim.wait(20000, function() return codes()["unknown-field"] == nil end), "the fix does not remove its finding")
  -- Typing.
  vim.api.nvim_buf_set_lines(buffer, 23, 24, false, { "  service: kart:8080" })
  assert(vim.wait(20000, function() for _, one in pairs(codes()) do if one.message:find("kart", 1, true) then return true end end end), "typing has no effect")
  vim.api.nvim_buf_set_lines(buffer, 23, 24, false, { "  service: cart:8080" })
  local definition = ask("textDocument/definition", { textDocument = at.textDocument, position = { line = 23, character = 12 } })
  assert(definition[1].range.start.line == 12, "definition: " .. vim.inspect(definition))
  local edit = ask("textDocument/rename", { textDocument = at.textDocument, position = { line = 23, character = 12 }, newName = "basket" })
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\\n")
  assert(text:find("service: basket:8080", 1, true) and text:find("{name: basket, namespace: shop}", 1, true), text)
end)
if not ok then fail(tostring(why)) else vim.fn.writefile({"passed"}, "result"); vim.cmd("qall!") end
"""

EMACS = """
(package-initialize)
(require (quote eglot))
(require 'flymake)
(defun wait-for (test why)
  (let ((end (+ (float-time) 30)))
    (while (and (not (funcall test)) (< (float-time) end)) (accept-process-output nil 0.1))
    (unless (funcall test) (error "%s" why))))
(defun texts () (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\\n"))
(add-to-list 'eglot-server-programs '(text-mode . ("SERVER" "lsp")))
(condition-case why
    (progn
      (find-file "sample.yaml")
      (text-mode)
      (apply #'eglot (list '(text-mode) (cons 'transient default-directory) 'eglot-lsp-server '("SERVER" "lsp") "yaml"))
      (wait-for (lambda () (eglot-current-server)) "no server")
      (flymake-start)
      (wait-for (lambda () (string-match "timout_ms" (texts))) (concat "no diagnostics: " (texts)))
      (goto-char (point-min))
      (search-forward "timeout_ms")
      (let ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
        (unless (string-match "timeout_ms" (plist-get (plist-get hover :contents) :value)) (error "hover: %S" hover)))
      (search-forward "timout_ms")
      (replace-match "retry_on")
      (eglot--signal-textDocument/didChange)
      (wait-for (lambda () (not (string-match "timout_ms" (texts)))) "typing has no effect")
      (write-region "passed" nil "result"))
  (error (write-region (format "FAILED: %S" why) nil "result") (kill-emacs 1)))
(kill-emacs 0)
"""


def main():
    editor, server = sys.argv[1], str(Path(sys.argv[2]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        shutil.copy(HERE / "sample.yaml", folder / "sample.yaml")
        if editor == "nvim":
            (folder / "test.lua").write_text(NVIM.replace("SERVER", server))
            command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile test.lua"]
        else:
            (folder / "test.el").write_text(EMACS.replace("SERVER", server))
            command = ["emacs", "-q", "--batch", "-l", "test.el"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        result = folder / "result"
        outcome = result.read_text().strip() if result.exists() else f"FAILED: it wrote no result\n{run.stdout}{run.stderr}"
        print(f"{editor}: {outcome}")
        if outcome != "passed":
            print(run.stderr[-2000:])
            sys.exit(1)


main()
