// streams.mjs URL TOKEN: what the npm clients graphql-ws and graphql-sse make of a server. Exits with 1 and a
// sentence where it is not what it has to be. Prints "goodbye" where the server has to end its streams, and
// answer at the same address.
import { createClient as overWebSocket } from 'graphql-ws'
import { createClient as overEvents } from 'graphql-sse'
import WebSocket from 'ws'

const [url, token] = process.argv.slice(2)
const subscription = 'subscription($after: String) { proposalEvents(after: $after) { cursor type proposalId } }'
const authorization = `Bearer ${token}`

const fail = (why) => { console.error(why); process.exit(1) }
const must = (holds, why) => { if (!holds) fail(why) }
setTimeout(() => fail('it took too long'), 60_000).unref()

async function query(document, variables) {
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify({ query: document, variables }) })
  const { data, errors } = await response.json()
  must(!errors, JSON.stringify(errors))
  return data
}
let names = 0
const propose = async () => (await query('mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { result { ... on Proposal { id } } } }',
  { in: { entity: 'core.role', operation: 'UPDATE', recordId: '4', changes: { name: `name ${names++}` } } })).proposeChange.result.id

// take gives the first events of an iterator, and leaves it.
async function take(n, events) {
  const list = []
  for await (const { data, errors } of events) {
    must(!errors, JSON.stringify(errors))
    if (list.push(data.proposalEvents) === n) break
  }
  return list
}

const sockets = (connectionParams, more = {}) => overWebSocket({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, connectionParams, ...more })
const cursor = async () => (await query('{ feedCursor }')).feedCursor

async function follow(name, client) {
  const after = await cursor()
  const made = [await propose(), await propose(), await propose()]
  const [first, ...rest] = await take(3, client.iterate({ query: subscription, variables: { after } }))
  must([first, ...rest].map((e) => e.proposalId).join() === made.join(), `${name}: told of others`)
  const again = await take(2, client.iterate({ query: subscription, variables: { after: first.cursor } }))
  must(JSON.stringify(again) === JSON.stringify(rest), `${name}: a gap, or a repetition`)
  const { value } = await client.iterate({ query: '{ viewer { role } }' }).next()
  must(value.data.viewer.role === 'MEMBER', `${name}: no answer to a query`)
  const bad = await client.iterate({ query: subscription, variables: { after: 'nonsense' } }).next().then(({ value }) => value.errors, (errors) => errors)
  must(bad[0].extensions.code === 'CURSOR_INVALID', `${name}: ${JSON.stringify(bad)}`)
}

// refused counts how often a client that may not connect tries.
async function refused(connectionParams, code) {
  let tries = 0
  const client = sockets(connectionParams, { retryAttempts: 5, retryWait: async () => {}, on: { connecting: () => tries++ } })
  const reason = await client.iterate({ query: subscription }).next().then(() => fail('let in'), (why) => why)
  must(reason.code === code && tries === 1, `closed with ${reason.code}, ${tries} tries`)
}

await follow('graphql-ws', sockets({ authorization }))
await follow('graphql-sse', overEvents({ url: `${url}/graphql`, headers: { authorization } }))
await refused({}, 4401)
await refused({ authorization: 'Bearer css_x' }, 4401)

// The server goes away: both come back by themselves, and go on after what they were told. What they ask for is
// sent anew with the variables as they are then.
const variables = [{ after: await cursor() }, {}]
variables[1].after = variables[0].after
const followers = [sockets({ authorization }), overEvents({ url: `${url}/graphql`, headers: { authorization } })]
  .map((client, i) => client.iterate({ query: subscription, variables: variables[i] }))
async function both(id) {
  for (const [i, follower] of followers.entries()) {
    const { value } = await follower.next()
    must(value.data?.proposalEvents.proposalId === id, `${i} was told ${JSON.stringify(value)}`)
    variables[i].after = value.data.proposalEvents.cursor
  }
}
await both(await propose())
console.log('goodbye')
await both(await propose())
await both(await propose())

// Both are told of the end of their sign-in, and do not come back.
const socket = sockets({ authorization }, { retryAttempts: 5 }).iterate({ query: subscription })
const stream = overEvents({ url: `${url}/graphql`, headers: { authorization }, retryAttempts: 0 }).iterate({ query: subscription })
const ends = [socket.next().then(() => fail('told after the end'), (why) => why), stream.next().then(({ value }) => value)]
await new Promise((done) => setTimeout(done, 500))
must((await fetch(`${url}/session`, { method: 'DELETE', headers: { authorization } })).ok, 'not signed out')
const [closed, last] = await Promise.all(ends)
must(closed.code === 4401, `closed with ${closed.code}`)
must(last.errors[0].extensions.code === 'UNAUTHENTICATED', JSON.stringify(last))
process.exit(0)
