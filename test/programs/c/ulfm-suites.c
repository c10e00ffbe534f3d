/*
 * What test-suites of ULFM ask, each scenario in a job of its own: `ulfm-suites.c <scenario> <how victims die>`. A rank that survives
 * prints "ok" when all that it saw was right, and what was wrong otherwise.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE 100000
#define WORLD MPI_COMM_WORLD

static int rank, size, errors;
static const char *how;
static char large[LARGE * 16];

static void check(int holds, const char *what, int line) {
    if (holds) return;
    errors++;
    printf("rank %d, line %d: %s\n", rank, line, what);
}
#define CHECK(holds) check(holds, #holds, __LINE__)

/* Codes are classes: programs compare them without MPI_Error_class. */
#define FAILS(call) CHECK((call) == MPIX_ERR_PROC_FAILED)
#define WORKS(call) CHECK((call) == MPI_SUCCESS)

/* Not flushed: a line that was printed is not lost with its rank. */
static void die(void) {
    printf("rank %d dies\n", rank);
    if (strcmp(how, "raise") == 0) raise(SIGKILL);
    if (strcmp(how, "kill") == 0) kill(getpid(), 9);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "mpi-abort") == 0) MPI_Abort(MPI_COMM_SELF, 3);
    exit(1);
}

static void returning(MPI_Comm comm) { MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

/* Who is through knows that all have come, and may die; for others it may fail. */
static void gather_before_a_death(MPI_Comm comm) {
    returning(comm);
    MPI_Barrier(comm);
}

static int group_size(MPI_Group group) {
    int count;
    MPI_Group_size(group, &count);
    return count;
}

/* A rank is dead and the others go straight to the end. */
static void at_once(void) {
    if (rank == 1) die();
}

/* Large and small messages to, from and beside the dead. */
static void messages(void) {
    MPI_Request request;
    MPI_Status status;
    returning(WORLD);
    if (rank == 1) die();
    if (rank == 0) {
        for (int i = 0; i < 2; i++) {
            int code = MPI_Send(large, LARGE, MPI_CHAR, 1, 0, WORLD);
            CHECK(code == MPI_SUCCESS || code == MPIX_ERR_PROC_FAILED);
        }
        WORKS(MPI_Isend(large, LARGE, MPI_CHAR, 1, 0, WORLD, &request));
        MPI_Wait(&request, &status);
        CHECK(request == MPI_REQUEST_NULL);
        FAILS(MPI_Recv(large, LARGE, MPI_CHAR, 1, 0, WORLD, &status));
        WORKS(MPI_Irecv(large, LARGE, MPI_CHAR, 1, 0, WORLD, &request));
        FAILS(MPI_Wait(&request, &status));
        FAILS(MPI_Ssend(large, 1, MPI_CHAR, 1, 0, WORLD));
        WORKS(MPI_Issend(large, 10, MPI_CHAR, 2, 0, WORLD, &request));
        WORKS(MPI_Wait(&request, &status));
        WORKS(MPI_Ssend(large, LARGE, MPI_CHAR, 2, 0, WORLD));
    }
    if (rank == 2) {
        WORKS(MPI_Recv(large, 10, MPI_CHAR, 0, 0, WORLD, &status));
        WORKS(MPI_Recv(large, LARGE, MPI_CHAR, 0, 0, WORLD, &status));
    }
}

static void collectives(void) {
    MPI_Comm others;
    MPI_Group world, living;
    MPI_Request request;
    int dead = 1, flag = 1, code;
    returning(WORLD);
    MPI_Comm_group(WORLD, &world);
    MPI_Group_excl(world, 1, &dead, &living);
    MPI_Comm_create_group(WORLD, living, 0, &others);
    if (rank == 1) die();
    for (int bytes = 10; bytes <= LARGE; bytes *= 100) {
        code = MPI_Bcast(large, bytes, MPI_CHAR, 0, WORLD);
        CHECK(code == MPI_SUCCESS || code == MPIX_ERR_PROC_FAILED);
        code = MPI_Scatter(large, bytes, MPI_CHAR, rank == 0 ? MPI_IN_PLACE : large, bytes, MPI_CHAR, 0, WORLD);
        CHECK(code == MPI_SUCCESS || code == MPIX_ERR_PROC_FAILED);
        code = MPI_Gather(rank == 0 ? MPI_IN_PLACE : large, bytes, MPI_CHAR, large, bytes, MPI_CHAR, 0, WORLD);
        if (rank == 0) FAILS(code);
        code = MPI_Reduce(rank == 0 ? MPI_IN_PLACE : large, large, bytes, MPI_CHAR, MPI_MAX, 0, WORLD);
        if (rank == 0) FAILS(code);
    }
    FAILS(MPI_Barrier(WORLD));
    /* One that fails beside one that does not. */
    WORKS(MPI_Ibarrier(WORLD, &request));
    WORKS(MPI_Barrier(others));
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    FAILS(MPIX_Comm_agree(WORLD, &flag));
    WORKS(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &errors, &errors, 1, MPI_INT, MPI_SUM, 0, others));
    WORKS(MPI_Comm_free(&others));
    MPI_Group_free(&world);
    MPI_Group_free(&living);
}

/* What was acknowledged is what it was when it was, and the empty group can be freed. */
static void acknowledged(void) {
    MPI_Group failed, world, first;
    int one = 1, result, value;
    returning(WORLD);
    WORKS(MPIX_Comm_failure_get_acked(WORLD, &failed));
    CHECK(failed == MPI_GROUP_EMPTY);
    WORKS(MPI_Group_free(&failed));
    if (rank == 1) die();
    if (rank == 2) {
        MPI_Ssend(&rank, 1, MPI_INT, 0, 0, WORLD);
        die();
    }
    if (rank != 0) return;
    FAILS(MPI_Recv(&value, 1, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE));
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 1, &one, &first);
    WORKS(MPIX_Comm_failure_ack(WORLD));
    for (int i = 0; i < 2; i++) {
        WORKS(MPIX_Comm_failure_get_acked(WORLD, &failed));
        MPI_Group_compare(first, failed, &result);
        CHECK(result == MPI_IDENT);
        MPI_Group_free(&failed);
        if (i == 1) break;
        WORKS(MPI_Recv(&value, 1, MPI_INT, 2, 0, WORLD, MPI_STATUS_IGNORE));
        FAILS(MPI_Recv(&value, 1, MPI_INT, 2, 0, WORLD, MPI_STATUS_IGNORE));
    }
    WORKS(MPIX_Comm_failure_ack(WORLD));
    WORKS(MPIX_Comm_failure_get_acked(WORLD, &failed));
    CHECK(group_size(failed) == 2);
    MPI_Group_free(&failed);
    MPI_Group_free(&world);
    MPI_Group_free(&first);
}

/* A master that receives from anybody until all have spoken or are dead. */
static void master(void) {
    int value, done = 0, failed = 0;
    MPI_Request request;
    MPI_Group group;
    if (rank > 0) {
        for (int i = 0; i < 3; i++) {
            if (rank % 2 == 0 && i == rank % 3) die();
            value = i == 2;
            MPI_Send(&value, 1, MPI_INT, 0, 1, WORLD);
        }
        return;
    }
    returning(WORLD);
    while (done + failed < size - 1) {
        WORKS(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &request));
        int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        while (code == MPIX_ERR_PROC_FAILED_PENDING) {
            CHECK(request != MPI_REQUEST_NULL);
            MPIX_Comm_failure_ack(WORLD);
            MPIX_Comm_failure_get_acked(WORLD, &group);
            failed = group_size(group);
            MPI_Group_free(&group);
            if (done + failed == size - 1) {
                MPI_Cancel(&request);
                WORKS(MPI_Wait(&request, MPI_STATUS_IGNORE));
                break;
            }
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (code == MPI_SUCCESS && request == MPI_REQUEST_NULL) done += value;
    }
    CHECK(done + failed == size - 1);
}

static int heard[2];
static MPI_Comm current;

/* Only of this error, also from a call that completes several requests. */
static void count_failures(MPI_Comm *comm, int *code, ...) {
    heard[*code == MPIX_ERR_PROC_FAILED]++;
    (void)comm;
}

static void handlers(void) {
    MPI_Errhandler handler;
    MPI_Comm half;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_create_errhandler(count_failures, &handler);
    MPI_Comm_split(WORLD, rank < size / 2, rank, &half);
    gather_before_a_death(WORLD);
    MPI_Comm_set_errhandler(WORLD, handler);
    MPI_Comm_set_errhandler(half, handler);
    if (rank == size - 1) die();
    int code = MPI_Barrier(half);
    /* The other half hears nothing. */
    CHECK(heard[0] == 0 && heard[1] == (rank >= size / 2) && code == (rank < size / 2 ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED));
    WORKS(MPI_Comm_free(&half));
    FAILS(MPI_Barrier(WORLD));
    heard[1] = 0;
    if (rank == 0) {
        WORKS(MPI_Irecv(large, 1, MPI_INT, size - 1, 1, WORLD, &requests[0]));
        WORKS(MPI_Isend(large, LARGE, MPI_INT, size - 1, 1, WORLD, &requests[1]));
        CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
        CHECK(statuses[0].MPI_ERROR == MPIX_ERR_PROC_FAILED);
        CHECK(heard[0] == 0 && heard[1] == 1);
    }
    MPI_Errhandler_free(&handler);
}

/* The handler repairs: it revokes, shrinks and frees the communicator whose call has failed. */
static void repair(MPI_Comm *comm, int *code, ...) {
    MPI_Comm shrunk;
    (void)comm;
    (void)code;
    MPIX_Comm_revoke(current);
    MPIX_Comm_shrink(current, &shrunk);
    MPI_Comm_free(&current);
    current = shrunk;
}

static void repairing_handler(void) {
    MPI_Errhandler handler;
    MPI_Comm_dup(WORLD, &current);
    MPI_Comm_create_errhandler(repair, &handler);
    MPI_Comm_set_errhandler(current, handler);
    for (int i = 0, failures = 0; i < 10; i++) {
        int one = 1, sum = 0, members;
        MPI_Comm_size(current, &members);
        if (i == 5 && rank == 1) die();
        if (i == 5) continue;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, current);
        CHECK(sum == members || ++failures == 1);
    }
    MPI_Comm_free(&current);
    MPI_Errhandler_free(&handler);
}

static jmp_buf escape;

static void jump(MPI_Comm *comm, int *code, ...) {
    MPIX_Comm_revoke(*comm);
    longjmp(escape, *code);
}

/* Out of a call, over its handler, to the agreement at the end of the block; twice. */
static void jumping_handler(void) {
    MPI_Errhandler handler;
    volatile int round = 0;
    MPI_Comm_create_errhandler(jump, &handler);
    for (; round < 2; round++) {
        MPI_Comm comm;
        if (round == 0) MPI_Comm_dup(WORLD, &comm);
        else MPIX_Comm_shrink(WORLD, &comm);
        gather_before_a_death(round == 0 ? WORLD : comm);
        MPI_Comm_set_errhandler(comm, handler);
        int code = setjmp(escape), flag;
        if (code == 0) {
            if (rank == size - 1 - round) die();
            MPI_Barrier(comm);
            CHECK(!"a barrier with the dead");
        }
        returning(comm);
        CHECK(code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED);
        flag = ~code;
        FAILS(MPIX_Comm_agree(comm, &flag));
        CHECK(flag != -1);
        WORKS(MPI_Comm_free(&comm));
    }
    MPI_Errhandler_free(&handler);
}

/* One after the other dies, until one is left. */
static void one_after_the_other(void) {
    MPI_Comm shrunk;
    MPI_Comm_dup(WORLD, &current);
    returning(current);
    for (int members = size, round = 0; members > 1; round++) {
        if (rank > 0 && round == 3 * rank) die();
        int code = MPI_Barrier(current);
        if (code == MPI_SUCCESS) continue;
        CHECK(code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED);
        if (code == MPIX_ERR_PROC_FAILED) MPIX_Comm_revoke(current);
        WORKS(MPIX_Comm_shrink(current, &shrunk));
        current = shrunk;
        MPI_Comm_size(current, &members);
    }
}

static void shrinking(void) {
    MPI_Comm whole, shrunk;
    MPI_Request request;
    int result, members, flag = 0;
    returning(WORLD);
    WORKS(MPIX_Comm_shrink(WORLD, &whole));
    MPI_Comm_compare(WORLD, whole, &result);
    CHECK(result == MPI_CONGRUENT);
    WORKS(MPI_Barrier(whole));
    gather_before_a_death(whole);
    for (int dead = 1; dead <= 2; dead++) {
        if (rank == size - dead) die();
        WORKS(MPIX_Comm_ishrink(WORLD, &shrunk, &request));
        FAILS(MPI_Barrier(WORLD));
        WORKS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI_Comm_size(shrunk, &members);
        CHECK(members == size - dead);
        WORKS(MPI_Barrier(shrunk));
        gather_before_a_death(shrunk);
        WORKS(MPI_Comm_free(&shrunk));
    }
    FAILS(MPIX_Comm_agree(WORLD, &flag));
    WORKS(MPI_Comm_free(&whole));
}

/* Large messages are under way when somebody revokes. */
static void revoking(void) {
    MPI_Comm shrunk;
    MPI_Request requests[2];
    for (int round = 0; round < 3; round++) {
        MPI_Comm_dup(WORLD, &current);
        returning(current);
        if (rank == 0) WORKS(MPIX_Comm_revoke(current));
        else {
            MPI_Isend(large, LARGE, MPI_INT, (rank + 1) % size, 1, current, &requests[0]);
            MPI_Irecv(large + 8 * LARGE, LARGE, MPI_INT, (rank + size - 1) % size, 1, current, &requests[1]);
            CHECK(MPI_Barrier(current) == MPIX_ERR_REVOKED);
            for (int i = 0; i < 2; i++) {
                int code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
                CHECK(code == MPI_SUCCESS || code == MPIX_ERR_REVOKED);
            }
        }
        WORKS(MPIX_Comm_shrink(current, &shrunk));
        WORKS(MPI_Comm_free(&current));
        WORKS(MPI_Barrier(shrunk));
        WORKS(MPI_Comm_free(&shrunk));
    }
    if (rank == 1) die();
}

/* By pairs: a receiver dies, then a sender. */
static void pairs(void) {
    int partner = rank % 2 == 0 ? rank + 1 : rank - 1, index, count, indices[2], message, code = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    returning(WORLD);
    for (int i = 0; i < 200 && code == MPI_SUCCESS; i++) {
        if ((i == 10 && rank % 8 == 1) || (i == 15 && rank % 8 == 2)) die();
        MPI_Isend(&i, 1, MPI_INT, rank % 2 == 0 ? partner : MPI_PROC_NULL, 1, WORLD, &requests[0]);
        MPI_Irecv(&message, 1, MPI_INT, rank % 2 == 0 ? MPI_PROC_NULL : partner, 1, WORLD, &requests[1]);
        code = MPI_Waitany(2, requests, &index, &statuses[0]);
        if (code == MPI_SUCCESS) code = MPI_Waitsome(2, requests, &count, indices, statuses);
        if (code == MPI_SUCCESS) code = MPI_Waitall(2, requests, statuses);
    }
    if (rank % 8 == 0 || rank % 8 == 3) CHECK(rank % 8 == 0 || code != MPI_SUCCESS);
    else CHECK(code == MPI_SUCCESS);
}

/* A spawn that meets a death, one that knows of it, and one without the dead. */
static void spawning(void) {
    char command[256] = "";
    char *arguments_of_children[] = {"spawned", NULL};
    int flag, codes[2];
    MPI_Comm children, alive;
    returning(WORLD);
    MPI_Info_get(MPI_INFO_ENV, "command", 255, command, &flag);
    CHECK(flag);
    gather_before_a_death(WORLD);
    if (rank == size - 1) die();
    for (int i = 0; i < 2; i++) {
        FAILS(MPI_Comm_spawn(command, arguments_of_children, 2, MPI_INFO_NULL, 0, WORLD, &children, codes));
        CHECK(children == MPI_COMM_NULL);
        flag = 1;
        MPIX_Comm_agree(WORLD, &flag);
    }
    WORKS(MPIX_Comm_shrink(WORLD, &alive));
    WORKS(MPI_Comm_spawn(command, arguments_of_children, 2, MPI_INFO_NULL, 0, alive, &children, codes));
    WORKS(MPI_Barrier(children));
    WORKS(MPI_Comm_disconnect(&children));
}

/* All have merged, the last one of them dies, and the others go on without it. */
static void lose_the_last(MPI_Comm merged) {
    int place, members, left;
    MPI_Comm rest;
    MPI_Comm_rank(merged, &place);
    MPI_Comm_size(merged, &members);
    gather_before_a_death(merged);
    if (place == members - 1) die();
    FAILS(MPI_Barrier(merged));
    WORKS(MPIX_Comm_shrink(merged, &rest));
    MPI_Comm_size(rest, &left);
    CHECK(left == members - 1);
    WORKS(MPI_Barrier(rest));
}

/* A rank that waits in reserve dies, which those at work do not notice; then one that was spawned in its place. */
static void spares(void) {
    char command[256] = "";
    char *arguments_of_children[] = {"replacing", (char *)how, NULL};
    int flag, value, codes[2];
    MPI_Comm at_work, alive, children, all;
    returning(WORLD);
    MPI_Info_get(MPI_INFO_ENV, "command", 255, command, &flag);
    MPI_Comm_split(WORLD, rank < size - 2, 0, &at_work);
    returning(at_work);
    gather_before_a_death(WORLD);
    if (rank == size - 1) die();
    if (rank == size - 2) FAILS(MPI_Recv(&value, 1, MPI_INT, size - 1, 5, WORLD, MPI_STATUS_IGNORE));
    else for (int i = 0; i < 100; i++) WORKS(MPI_Barrier(at_work));
    WORKS(MPIX_Comm_shrink(WORLD, &alive));
    WORKS(MPI_Comm_spawn(command, arguments_of_children, 2, MPI_INFO_NULL, 0, alive, &children, codes));
    WORKS(MPI_Intercomm_merge(children, 0, &all));
    lose_the_last(all);
}

/* One of those that were spawned for that. */
static void replacing(MPI_Comm parent) {
    MPI_Comm all;
    WORKS(MPI_Intercomm_merge(parent, 1, &all));
    lose_the_last(all);
}

/* MPI_Abort on a communicator that is not the world ends its members. */
static void aborting(void) {
    MPI_Comm half;
    int value;
    returning(WORLD);
    MPI_Comm_split(WORLD, rank % 2, 0, &half);
    gather_before_a_death(WORLD);
    if (rank == 1) MPI_Abort(half, 7);
    if (rank % 2 == 1) {
        if (rank == 3) for (;;) MPI_Barrier(half);
        for (;;) MPI_Recv(&value, 1, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE);
    }
    FAILS(MPI_Recv(&value, 1, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE));
    FAILS(MPI_Recv(&value, 1, MPI_INT, 3, 0, WORLD, MPI_STATUS_IGNORE));
    WORKS(MPI_Barrier(half));
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {{"at-once", at_once}, {"messages", messages}, {"collectives", collectives}, {"acknowledged", acknowledged},
                 {"master", master}, {"handlers", handlers}, {"repairing-handler", repairing_handler},
                 {"jumping-handler", jumping_handler}, {"one-after-the-other", one_after_the_other}, {"shrinking", shrinking},
                 {"revoking", revoking}, {"pairs", pairs}, {"spawning", spawning}, {"spares", spares},
                 {"aborting", aborting}};

int main(int argc, char **argv) {
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    MPI_Comm_get_parent(&parent);
    how = argc > 2 ? argv[2] : "raise";
    if (parent != MPI_COMM_NULL) {
        if (strcmp(argv[1], "replacing") == 0) {
            replacing(parent);
        } else {
            MPI_Barrier(parent);
            MPI_Comm_disconnect(&parent);
        }
        MPI_Finalize();
        return 0;
    }
    for (unsigned i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, argv[1]) == 0) scenarios[i].run();
    MPI_Finalize();
    if (errors == 0) printf("ok\n");
    return 0;
}
