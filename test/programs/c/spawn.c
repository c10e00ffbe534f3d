/* Processes that are started while the job runs (MPI 5.0 chapter 11). `spawn <what>`; children run this program too, and find
 * "child" and what they are for in front of their arguments. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, errors;

static void check(int condition, const char *what) {
    if (condition) return;
    errors++;
    printf("wrong in %d of %d: %s\n", rank, size, what);
}

static MPI_Comm spawn(char *program, char *what, int children, MPI_Comm comm) {
    char *arguments[] = {"child", what, NULL};
    int codes[64];
    MPI_Comm inter;
    memset(codes, 0xff, sizeof codes);
    MPI_Comm_spawn(program, arguments, children, MPI_INFO_NULL, 0, comm, &inter, codes);
    for (int i = 0; i < children; i++) check(codes[i] == MPI_SUCCESS, "error codes");
    return inter;
}

/* Both sides: messages of all sizes in both directions, collectives, a merge. */
static void talk(MPI_Comm inter, int isChild) {
    int own, others, everybody, mine, sum = 0, word, flag;
    MPI_Comm all, twin;
    MPI_Status status;
    MPI_Comm_test_inter(inter, &flag);
    check(flag, "an inter-communicator");
    MPI_Comm_size(inter, &own);
    MPI_Comm_remote_size(inter, &others);
    MPI_Comm_rank(inter, &mine);
    for (int bytes = 4; bytes <= 4 << 20; bytes *= 32) {
        char *out = malloc(bytes), *in = malloc(bytes);
        memset(out, 1 + isChild, bytes);
        if (mine == 0) {
            MPI_Sendrecv(out, bytes, MPI_CHAR, 0, bytes, in, bytes, MPI_CHAR, 0, bytes, inter, &status);
            check(in[0] == 2 - isChild && in[bytes - 1] == 2 - isChild, "bytes of the other side");
        }
        free(out);
        free(in);
    }
    /* Everybody writes to everybody over there. */
    for (int i = 0; i < others; i++) MPI_Send(&mine, 1, MPI_INT, i, 7, inter);
    for (int i = 0; i < others; i++) {
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 7, inter, &status);
        check(word == status.MPI_SOURCE, "source");
        sum += word;
    }
    check(sum == others * (others - 1) / 2, "sum of the sources");
    word = 1 + isChild;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, inter);
    check(sum == others * (2 - isChild), "allreduce");
    word = isChild ? 0 : 42;
    MPI_Bcast(&word, 1, MPI_INT, isChild ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    check(!isChild || word == 42, "bcast");
    MPI_Barrier(inter);
    MPI_Comm_dup(inter, &twin);
    MPI_Intercomm_merge(twin, isChild, &all);
    MPI_Comm_size(all, &everybody);
    MPI_Comm_rank(all, &word);
    check(everybody == own + others && word == (isChild ? others + mine : mine), "merged");
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, all);
    check(sum == everybody * (everybody - 1) / 2, "allreduce of all");
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&twin);
    check(twin == MPI_COMM_NULL, "disconnected");
}

static int attribute(int key) {
    int *value, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    return flag ? *value : -1;
}

static void child(char *program, int argc, char **argv, MPI_Comm parent) {
    const char *what = argv[2];
    MPI_Comm again;
    MPI_Comm_get_parent(&again);
    check(again == parent, "the same parent");
    if (strcmp(what, "talk") == 0) talk(parent, 1);
    if (strcmp(what, "grandchildren") == 0) {
        MPI_Comm inter = spawn(program, "talk", 2, MPI_COMM_WORLD);
        talk(inter, 0);
        talk(parent, 1);
    }
    if (strcmp(what, "numbered") == 0) printf("app %d, %d of %d, %s\n", attribute(MPI_APPNUM), rank, size, argv[argc - 1]);
    if (strcmp(what, "sleep") == 0) {
        /* The parents are long done, and one of them ends with an error when everybody is. */
        MPI_Comm_free(&parent);
        usleep(500000);
        printf("child %d slept\n", rank);
    }
    if (strcmp(what, "print") == 0) printf("child %d of %d\n", rank, size);
    if (strcmp(what, "exit") == 0 && rank == 1) exit(7);
    if (strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(what, "trap") == 0 && rank == 1) __builtin_trap();
    if (strcmp(what, "disconnect") == 0) {
        MPI_Comm_disconnect(&parent);
        MPI_Comm_get_parent(&again);
        check(again == MPI_COMM_NULL, "no parent any more");
    } else if (strcmp(what, "talk") == 0) MPI_Comm_disconnect(&parent);
    else MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Comm parent, inter;
    char *what = argc > 1 ? argv[1] : "";
    if (argc > 2 && strcmp(argv[2], "silent") == 0) return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(argv[0], argc, argv, parent);
    } else if (strcmp(what, "talk") == 0 || strcmp(what, "grandchildren") == 0) {
        inter = spawn(argv[0], what, 3, MPI_COMM_WORLD);
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "alone") == 0) {
        /* Every rank for itself, all at once, and again. */
        for (int round = 0; round < 3; round++) {
            inter = spawn(argv[0], "talk", 1 + rank, MPI_COMM_SELF);
            talk(inter, 0);
            MPI_Comm_disconnect(&inter);
        }
    } else if (strcmp(what, "numbered") == 0) {
        char *programs[] = {argv[0], argv[0]};
        char *first[] = {"child", "numbered", "one", NULL}, *second[] = {"child", "numbered", "a b", NULL};
        char **arguments[] = {first, second};
        int counts[] = {1, 2}, codes[] = {-1, -1, -1};
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm_spawn_multiple(2, programs, arguments, counts, infos, size - 1, MPI_COMM_WORLD, &inter, codes);
        check(codes[0] == 0 && codes[1] == 0 && codes[2] == 0, "error codes");
        check(attribute(MPI_UNIVERSE_SIZE) > size, "room in the universe");
        check(attribute(MPI_APPNUM) == 0, "the job's own program");
    } else if (strcmp(what, "missing") == 0) {
        int codes[2] = {-1, -1}, code, class, length;
        char text[MPI_MAX_ERROR_STRING];
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        code = MPI_Comm_spawn("nowhere", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
        check(class == MPI_ERR_SPAWN && inter == MPI_COMM_NULL && strstr(text, "spawn") != NULL, "class");
        check(codes[0] == code && codes[1] == code, "codes");
        code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        check(code == MPI_ERR_SPAWN, "too many");
        inter = spawn(argv[0], "talk", 1, MPI_COMM_WORLD);
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "fatal") == 0) {
        MPI_Comm_spawn("nowhere", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    } else if (strcmp(what, "frozen") == 0) {
        spawn(argv[0], "print", 2, MPI_COMM_WORLD);
        /* Until the test has made that file. */
        for (int more = 1; more;) {
            more = access(argv[2], F_OK) != 0;
            MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    } else {
        inter = spawn(argv[0], what, 2, MPI_COMM_WORLD);
    }
    if (errors == 0 && parent == MPI_COMM_NULL && rank == 0) printf("good\n");
    MPI_Finalize();
    return parent == MPI_COMM_NULL && strcmp(what, "sleep") == 0 && rank == 0 ? 5 : errors != 0;
}
