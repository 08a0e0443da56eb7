/**
 * gemini-cli: the tool call check of its LoopDetectionService, without the check that asks a model.
 *
 * Each call is a request in the model's stream. A detection is a `stop`, because the client leaves the stream there and
 * the call does not run. At the first detection within a prompt the client informs the model and clears the detection;
 * at the next one it ends the run. A message of the user is a new prompt and resets the service, and so does the user's
 * message to continue after the run has ended. The service has no warnings and does not see results.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const core = join(process.argv[2], 'node_modules', '@google', 'gemini-cli-core', 'dist', 'src');
const { LoopDetectionService } = await import(pathToFileURL(join(core, 'services', 'loopDetectionService.js')));
const { GeminiEventType } = await import(pathToFileURL(join(core, 'core', 'turn.js')));

const config = {
  getDisableLoopDetection: () => false,
  getUsageStatisticsEnabled: () => false,
  getSessionId: () => 'session',
};

function follow(run) {
  const service = new LoopDetectionService({ config });
  const signals = [];
  let milliseconds = 0;
  let prompt = 0;
  service.reset(`prompt-${prompt}`);
  run.calls.forEach((call, number) => {
    if (call.user_before) service.reset(`prompt-${(prompt += 1)}`);
    const value = { callId: `call-${number}`, name: call.tool, args: call.args, prompt_id: `prompt-${prompt}` };
    const start = performance.now();
    const { count } = service.addAndCheck({ type: GeminiEventType.ToolCallRequest, value });
    milliseconds += performance.now() - start;
    if (count === 0) return;
    signals.push([number, 'stop', 'before']);
    if (count === 1) service.clearDetection();
    else service.reset(`prompt-${(prompt += 1)}`);
  });
  return { id: run.id, signals, seconds: milliseconds / 1000 };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(`${JSON.stringify(follow(JSON.parse(line)))}\n`);
}
