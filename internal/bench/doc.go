// Package bench measures what proposing and confirming through authenticated GraphQL over HTTP cost beside
// the SQL alone: `make bench`. It has nothing but tests; what the two send is a list in one of them.
package bench
