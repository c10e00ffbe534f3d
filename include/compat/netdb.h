/* Names of hosts. A rank reaches other ranks through MPI alone: only the machine itself has an address, its own. */
#ifndef BANYAN_NETDB_H
#define BANYAN_NETDB_H

#include <netinet/in.h>
#include <sys/socket.h>

#define HOST_NOT_FOUND 1
#define TRY_AGAIN      2
#define NO_RECOVERY    3
#define NO_DATA        4

#if defined(__cplusplus)
extern "C" {
#endif

struct hostent {
    char *h_name;
    char **h_aliases;
    int h_addrtype;
    int h_length;
    char **h_addr_list;
};
#define h_addr h_addr_list[0]

extern int h_errno;

struct hostent *gethostbyname(const char *name);

#if defined(__cplusplus)
}
#endif

#endif
