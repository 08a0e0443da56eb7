// Guards opencode with Wheelspin: written by `wheelspin install opencode`, removed by `wheelspin uninstall opencode`.
// Each event is told to the hook, a process of its own. Whatever goes wrong there or here, opencode goes on.
import { execFile } from "node:child_process"

const [PROGRAM, ...WORDS] = COMMAND
const LIMIT = { timeout: 10_000, killSignal: "SIGKILL", windowsHide: true }

const ask = (payload) =>
  new Promise((resolve) => {
    const said = JSON.stringify(payload)
    const hook = execFile(PROGRAM, WORDS, LIMIT, (_, answer) => resolve(answer))
    hook.stdin.on("error", () => {})
    hook.stdin.end(said)
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
  const runs = new Map() // session: its newest prompt
  const turns = new Map() // session: the message that the model answers now
  const running = new Map() // call without a result: its arguments, and the prompt and message that it is of
  const advised = new Map() // failed call: what the model is told of it
  const ending = new Set() // sessions whose run ends before the model is asked again
  let armed // a compaction is told before what comes after it

  const tell = async (event, session, more) => {
    await armed
    const reply = await ask({ event, session, run: runs.get(session), turn: turns.get(session), ...more })
    if (reply.abort) ending.add(session)
    return reply.advice
  }

  const before = safely(async ({ tool, sessionID, callID }, { args }) => {
    const asked = { run: runs.get(sessionID), turn: turns.get(sessionID), arguments: args }
    const advice = await tell("before", sessionID, { call: callID, tool, ...asked })
    if (!advice) running.set(sessionID + callID, asked)
    return advice
  })

  return {
    "chat.message": safely(async ({ sessionID }, { message }) => {
      ending.delete(sessionID)
      runs.set(sessionID, message.id)
      await tell("prompt", sessionID)
    }),
    event: safely(async ({ event }) => {
      if (event.type === "session.compacted") armed = tell("compacted", event.properties.sessionID)
    }),
    "tool.execute.before": async (...given) => {
      const advice = await before(...given)
      if (advice) throw new Error(advice)
    },
    "tool.execute.after": safely(async ({ tool, sessionID, callID, args }, result) => {
      const asked = running.get(sessionID + callID)
      running.delete(sessionID + callID)
      const advice = await tell("after", sessionID, { call: callID, tool, ...asked, arguments: args, result })
      if (!advice) return
      if (Array.isArray(result.content)) result.content.push({ type: "text", text: advice })
      else if (typeof result.output === "string") result.output += `\n\n${advice}`
    }),
    // Comes before the model is asked. A call that failed had no `after`: it is told here.
    "experimental.chat.messages.transform": safely(async (_, { messages }) => {
      const { id: turn, sessionID } = messages.at(-1).info
      for (const { id, type, tool, callID, state } of messages.flatMap(({ parts }) => parts)) {
        if (type !== "tool" || state.status !== "error") continue
        const call = sessionID + callID
        if (running.has(call)) {
          const more = { call: callID, tool, ...running.get(call), error: state.error }
          running.delete(call)
          advised.set(id, await tell("after", sessionID, more))
        }
        if (advised.get(id)) state.error += `\n\n${advised.get(id)}`
      }
      turns.set(sessionID, turn)
    }),
    // Comes after that. What is thrown here is the error that the run ends with.
    "chat.params": async (input) => {
      if (ending.delete(input?.sessionID)) throw new Error("Wheelspin ended this run: its last tool call tells why.")
    },
  }
}
