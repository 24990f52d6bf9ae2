// Puts GraphiQL on its page. It asks as whoever is signed in to the console in this browser, or as whom
// the header names that one types.
(() => {
  "use strict";

  const query = `# You are whoever is signed in to the console in this browser. To be someone
# else, type under Headers:  {"Authorization": "Bearer …"}
#
# Ctrl-Enter runs, Ctrl-Space completes, and the book on the left explains.

{
  viewer {
    user {
      name
    }
    workspace {
      name
    }
    role
  }
  proposals(first: 5) {
    edges {
      node {
        number
        headline
        status
      }
    }
  }
}
`;

  // What one types goes with the page: kept in the browser, its history would hold tokens.
  const kept = new Map();
  const storage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => { kept.set(name, String(value)); },
    removeItem: (name) => { kept.delete(name); },
    clear: () => { kept.clear(); },
    get length() { return kept.size; },
  };

  const logo = React.createElement(GraphiQL.Logo, null, React.createElement("a", { href: "/" }, "Countersign"));
  const explorer = React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: "/graphql", enableIncrementalDelivery: false }),
    defaultQuery: query,
    shouldPersistHeaders: false,
    storage,
  }, logo);
  ReactDOM.createRoot(document.getElementById("graphiql")).render(explorer);
})();
