/*
 * A fuzzer of MPI's ABI: random calls with random, nearly right and absurd arguments. No call may crash a node, hang, or change
 * a byte that it was not given.
 *
 *   abi-fuzz <seed> <calls> [first episode [episodes [trace | counts]]]
 *
 * A run is a row of episodes, each drawn from the seed and its own number, so that any of them can be run alone. An episode
 * has a communicator of its own and is of one of three kinds:
 *
 *   alone     every rank for itself, on a communicator of one: nothing that waits for somebody
 *   together  all ranks make the same collective calls with the same arguments; whoever gets an error revokes the communicator
 *   absurd    every rank calls what it likes, whoever else does. One of them, the breaker, calls nothing that waits, and revokes
 *             the communicator when it is through: every wait of the others must end by that.
 *
 * Whatever waits for good without an error is the library's fault, therefore. After each episode an exchange on another
 * communicator shows that the library still works.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "random.h"
#include "watched.h"

enum parameter_kind {
    P_INT, P_COUNT, P_RANK, P_TAG, P_SIZE, P_OFFSET, P_KEYVAL, P_CODE, P_CHOICE, P_HANDLE, P_FUNCTION, P_POINTER, P_MEMORY,
    P_ATTACHED, P_WORD, P_HANDLE_AT, P_STATUS, P_TEXT, P_TEXT_OUT, P_ARRAY, P_BUFFER, P_PACKED
};

/* How a function may be used. */
enum {
    IS_TOGETHER = 1 << 0,      /* all members of a communicator call it */
    IS_AT_ONCE = 1 << 1,       /* … and it waits for none of them */
    IS_WAITS = 1 << 2,         /* it may wait for a message, a request, a buffer */
    IS_WORLDWIDE = 1 << 3,     /* others must call it, and no communicator can be revoked to end it */
    IS_FILE_TOGETHER = 1 << 4, /* all who opened a file call it */
    IS_AGREES = 1 << 5,        /* works on revoked communicators, and waits for all members */
    IS_REVOKES = 1 << 6,
    IS_GENERALIZED = 1 << 7,   /* makes a request that only the program completes */
    IS_PERSISTENT = 1 << 8,
    IS_SPEAKS = 1 << 9,        /* does something to its communicator: only that of the episode is given */
    IS_MAKES = 1 << 10,        /* makes a datatype, a group … that others can use */
    IS_RARE = 1 << 11,         /* not built yet, or hardly anything to find */
    IS_LOCAL = 1 << 12         /* C code of the program itself: it believes pointers */
};

struct parameter {
    unsigned char kind, of;
    unsigned short bytes;
    /* Which parameters have the length or the count, and the datatype; −1: none. */
    signed char length, type;
    /* 0: read, 1: written, 2: both. */
    unsigned char out;
    /* A buffer with as many parts as there are members. */
    unsigned char many;
};

struct function {
    const char *name;
    int flags;
    int parameters;
    struct parameter parameter[14];
};

#include "calls.h"

enum mode { ALONE, TOGETHER, ABSURD };
static const char *const mode_names[] = {"alone", "together", "absurd"};

/* Members, or neighbours, that a communicator can have. */
enum { MEMBERS = 8, KEYVALS = 8, BLOCKS = 8, ATTACHED_BYTES = 1 << 16 };

static uint64_t seed;
static int rank, ranks, episode, call_number, is_traced, is_counting, is_breaker, is_cleaning;
static enum mode mode;
static MPI_Comm control, x;
static int x_size, is_x_gone, is_revoked;
static int keyvals[KEYVALS], keyval_count;
static int blocks[BLOCKS], block_count;
static unsigned char attached[ATTACHED_BYTES];
static long long calls_made, errors_returned;
static int called[FUNCTIONS], succeeded[FUNCTIONS];
static double slowest_s;
static int slowest;

/* The call that is being made. */
static const struct function *current;
static int64_t v[16];
static int matched_count, matched_type;

static void describe(FILE *to) {
    fprintf(to, "rank %d of %d, episode %d (%s%s), call %d: %s(", rank, ranks, episode, mode_names[mode],
        is_breaker ? ", breaker" : "", call_number, current->name);
    for (int i = 0; i < current->parameters; i++) {
        const char *comma = i ? ", " : "";
        if (v[i] > -4096 && v[i] < 4096)
            fprintf(to, "%s%lld", comma, (long long)v[i]);
        else
            fprintf(to, "%s0x%llx", comma, current->parameter[i].bytes == 8 ? (long long)v[i] : (long long)(uint32_t)v[i]);
    }
    fprintf(to, ")");
}

static _Noreturn void fail(const char *format, ...) {
    printf("abi-fuzz failed: seed %llu, ", (unsigned long long)seed);
    if (current) describe(stdout);
    printf(": ");
    va_list more;
    va_start(more, format);
    vprintf(format, more);
    va_end(more);
    printf("\n");
    fflush(stdout);
    exit(3);
}

/* Functions of the program. They return errors now and then, but not when an episode ends: then all must go. */
static void operation(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)in, (void)inout, (void)length, (void)type;
}
static void operation_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *type) {
    (void)in, (void)inout, (void)length, (void)type;
}
static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag) {
    (void)comm, (void)extra;
    *(void **)out = value;
    *flag = keyval & 1;
    return is_cleaning || (intptr_t)value % 7 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    return is_cleaning || (intptr_t)value % 5 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static void on_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}
static int query(void *extra, MPI_Status *status) {
    (void)extra;
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    MPI_Status_set_cancelled(status, 0);
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    return MPI_SUCCESS;
}
static int free_extra(void *extra) {
    (void)extra;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

#include "arguments.h"
#include "episodes.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    seed = argc > 1 ? strtoull(argv[1], 0, 10) : 1;
    const long long wanted = argc > 2 ? atoll(argv[2]) : 1000;
    const int first = argc > 3 ? atoi(argv[3]) : 0;
    const int last = argc > 4 ? first + atoi(argv[4]) : 0x7fffffff;
    is_traced = argc > 5 && strcmp(argv[5], "trace") == 0;
    is_counting = argc > 5 && strcmp(argv[5], "counts") == 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    watch();
    begin_types();
    long long total = 0;
    for (episode = first; episode < last && total < wanted; episode++) total = run_episode();
    print_counts(total);
    MPI_Finalize();
    return 0;
}
