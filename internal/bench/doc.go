// Package bench measures what proposing and confirming through authenticated GraphQL over HTTP cost beside
// the SQL alone, and beside followers of the feed; how soon these are told, and what they keep: `make bench`.
// It has nothing but tests; what a propose and a confirm send is a list in one of them.
package bench
