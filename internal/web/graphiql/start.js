// Puts GraphiQL on its page. It asks as whoever is signed in to the console in this browser, or as whom
// the header names that one types. What one typed stays in the tab and goes with it.
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

  const logo = React.createElement(GraphiQL.Logo, null, React.createElement("a", { href: "/" }, "Countersign"));
  const explorer = React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: "/graphql", enableIncrementalDelivery: false }),
    defaultQuery: query,
    shouldPersistHeaders: false,
    storage: window.sessionStorage,
  }, logo);
  ReactDOM.createRoot(document.getElementById("graphiql")).render(explorer);
})();
