// Guards opencode with Wheelspin. Written by `wheelspin install opencode`, removed by `wheelspin uninstall opencode`.
// Each event starts the hook, a separate process. Whatever goes wrong there or here, opencode continues.
import { execFile } from "node:child_process"

const [PROGRAM, ...WORDS] = COMMAND
const LIMIT = { timeout: 10_000, killSignal: "SIGKILL", windowsHide: true }

const ask = (payload) =>
  new Promise((resolve) => {
    const input = JSON.stringify(payload)
    const hook = execFile(PROGRAM, WORDS, LIMIT, (_, answer) => resolve(answer))
    hook.stdin.on("error", () => {})
    hook.stdin.end(input)
  })
    .then((answer) => JSON.parse(answer) ?? {})
    .catch(() => ({}))

const safely =
  (handler) =>
  async (...given) => {
    try {
      return await handler(...given)
    } catch {}
  }

export const Wheelspin = async () => {
  const runs = new Map() // session -> its latest prompt
  const turns = new Map() // session -> the message that the model is answering
  const running = new Map() // call without a result -> its arguments, prompt and message
  const advised = new Map() // failed call -> the advice on it
  const ending = new Set() // sessions whose run ends before the next request to the model
  let armed // resolves once a compaction is reported; later events wait for it

  const report = async (event, session, more) => {
    await armed
    const reply = await ask({ event, session, run: runs.get(session), turn: turns.get(session), ...more })
    if (reply.abort) ending.add(session)
    return reply.advice
  }

  const before = safely(async ({ tool, sessionID, callID }, { args }) => {
    const asked = { run: runs.get(sessionID), turn: turns.get(sessionID), arguments: args }
    const advice = await report("before", sessionID, { call: callID, tool, ...asked })
    if (!advice) running.set(sessionID + callID, asked)
    return advice
  })

  return {
    "chat.message": safely(async ({ sessionID }, { message }) => {
      ending.delete(sessionID)
      runs.set(sessionID, message.id)
      await report("prompt", sessionID)
    }),
    event: safely(async ({ event }) => {
      if (event.type === "session.compacted") armed = report("compacted", event.properties.sessionID)
    }),
    "tool.execute.before": async (...given) => {
      const advice = await before(...given)
      if (advice) throw new Error(advice)
    },
    "tool.execute.after": safely(async ({ tool, sessionID, callID, args }, result) => {
      const asked = running.get(sessionID + callID)
      running.delete(sessionID + callID)
      const advice = await report("after", sessionID, { call: callID, tool, ...asked, arguments: args, result })
      if (!advice) return
      if (Array.isArray(result.content)) result.content.push({ type: "text", text: advice })
      else if (typeof result.output === "string") result.output += `\n\n${advice}`
    }),
    // Runs before each request to the model. A failed call has no `after`, so it is reported here.
    "experimental.chat.messages.transform": safely(async (_, { messages }) => {
      const { id: turn, sessionID } = messages.at(-1).info
      for (const { id, type, tool, callID, state } of messages.flatMap(({ parts }) => parts)) {
        if (type !== "tool" || state.status !== "error") continue
        const call = sessionID + callID
        if (running.has(call)) {
          const more = { call: callID, tool, ...running.get(call), error: state.error }
          running.delete(call)
          advised.set(id, await report("after", sessionID, more))
        }
        if (advised.get(id)) state.error += `\n\n${advised.get(id)}`
      }
      turns.set(sessionID, turn)
    }),
    // Runs after that. An error thrown here ends the run.
    "chat.params": async (input) => {
      if (ending.delete(input?.sessionID)) throw new Error("Wheelspin ended this run: see its last tool result.")
    },
  }
}
