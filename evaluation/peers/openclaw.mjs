/**
 * OpenClaw: its tool loop detection, switched on ({enabled: true}) with its documented thresholds.
 *
 * detectToolCallLoop comes before a call. A critical verdict stops the call, which is then not recorded, as in the
 * agent; with a warning the call runs. Warnings go to OpenClaw's log and not to the model, but count as `warn`.
 * All calls of a message come before the first of their outcomes. A message of the user starts a run of the agent, with
 * a run id of its own. The guard that is armed after a compaction is a separate part and not driven.
 *
 * The distribution has the detection in one file. It is copied into the peer's environment with stubs for the imports
 * that would load the whole program: the logger, and the check whether a channel's plug-in sends a message.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const config = { enabled: true };

async function loadDetection(home) {
  const dist = join(home, 'node_modules', 'openclaw', 'dist');
  const exported = /export \{ recordToolCall as n, recordToolCallOutcome as r, detectToolCallLoop as t \}/;
  const sources = readdirSync(dist)
    .filter((name) => /^tool-loop-detection-.*\.js$/.test(name))
    .map((name) => readFileSync(join(dist, name), 'utf8'))
    .filter((source) => exported.test(source));
  if (sources.length !== 1) throw new Error(`${sources.length} files look like the tool loop detection`);
  const stubs = {
    createSubsystemLogger: '() => ({ warn() {}, error() {} })',
    isMessagingToolSendAction: '() => false',
  };
  const code = sources[0]
    .replace(/^import \{ \w+ as (\w+) \} from "\.\/.*";$/gm, (line, name) =>
      Object.hasOwn(stubs, name) ? `const ${name} = ${stubs[name]};` : line)
    .replace(/ from "\.\//g, ' from "./node_modules/openclaw/dist/');
  const copy = join(home, 'tool-loop-detection.mjs');
  writeFileSync(copy, code);
  const { n: recordToolCall, r: recordToolCallOutcome, t: detectToolCallLoop } = await import(pathToFileURL(copy));
  return { recordToolCall, recordToolCallOutcome, detectToolCallLoop };
}

function messagesOf(calls) {
  const messages = [];
  calls.forEach((call, number) => {
    const isSame = number > 0 && call.message !== null && call.message === calls[number - 1].message;
    if (isSame) messages.at(-1).push({ call, number });
    else messages.push([{ call, number }]);
  });
  return messages;
}

function resultOf(call) {
  if (typeof call.result === 'string') return { content: [{ type: 'text', text: call.result }] };
  return { content: [{ type: 'text', text: JSON.stringify(call.result) }], details: call.result };
}

function follow(run, { recordToolCall, recordToolCallOutcome, detectToolCallLoop }) {
  const state = {};
  const signals = [];
  let milliseconds = 0;
  let turn = 0;
  const timed = (action) => {
    const start = performance.now();
    const value = action();
    milliseconds += performance.now() - start;
    return value;
  };
  for (const message of messagesOf(run.calls)) {
    if (message[0].call.user_before) turn += 1;
    const runId = `${run.id}-${turn}`;
    const ran = [];
    for (const { call, number } of message) {
      const verdict = timed(() => detectToolCallLoop(state, call.tool, call.args, config, { runId }));
      if (verdict.stuck) signals.push([number, verdict.level === 'critical' ? 'stop' : 'warn', 'before']);
      if (verdict.stuck && verdict.level === 'critical') continue;
      timed(() => recordToolCall(state, call.tool, call.args, `call-${number}`, config, { runId }));
      ran.push({ call, number });
    }
    for (const { call, number } of ran) {
      const outcome = { toolName: call.tool, toolParams: call.args, toolCallId: `call-${number}`, config, runId };
      if (call.error) outcome.error = call.result;
      else outcome.result = resultOf(call);
      timed(() => recordToolCallOutcome(state, outcome));
    }
  }
  return { id: run.id, signals, seconds: milliseconds / 1000 };
}

const detection = await loadDetection(process.argv[2]);
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(`${JSON.stringify(follow(JSON.parse(line), detection))}\n`);
}
