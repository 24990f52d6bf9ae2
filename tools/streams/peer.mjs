// peer.mjs: what people use where there is no feed, to measure beside it. graphql-ws on ws, which tells everyone
// who subscribes whatever event is posted to /emit: no rights, no database, no replay. Prints where it listens.
import { createServer } from 'node:http'
import { buildSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'

const schema = buildSchema(`
  type Query { version: String! }
  type Proposal { id: ID! number: Int! status: String! headline: String! }
  type ProposalEvent { cursor: String! type: String! at: String! proposalId: ID! status: String! proposal: Proposal }
  type Subscription { proposalEvents: ProposalEvent! }
`)
const field = schema.getSubscriptionType().getFields().proposalEvents
const followers = new Set()
field.resolve = (event) => event
field.subscribe = () => {
  const queue = []
  let wake
  const tell = (event) => (wake ? wake({ value: event, done: false }) : queue.push(event), (wake = undefined))
  followers.add(tell)
  return {
    [Symbol.asyncIterator]() { return this },
    next: () => (queue.length ? Promise.resolve({ value: queue.shift(), done: false }) : new Promise((resolve) => { wake = resolve })),
    return: () => (followers.delete(tell), Promise.resolve({ value: undefined, done: true })),
  }
}

const http = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  if (request.url === '/emit') { const event = JSON.parse(body); for (const tell of followers) tell(event) }
  response.end(`${process.version} ${followers.size}`)
})
useServer({ schema }, new WebSocketServer({ server: http, path: '/graphql', perMessageDeflate: false }))
http.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => console.log(`127.0.0.1:${http.address().port}`))
process.stdin.resume().on('end', () => process.exit(0)) // its parent has gone
