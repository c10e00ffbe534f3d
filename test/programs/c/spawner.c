/*
 * Spawns one process after the other and says what came of it: "<name>: worked", or why not. Its arguments are four for each:
 * name, command, info key wdir, info key path; "" for a key that is not given.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Comm parent, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        return MPI_Finalize();
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 1; i + 3 < argc; i += 4) {
        char why[MPI_MAX_ERROR_STRING] = "worked";
        int length;
        MPI_Info info;
        MPI_Info_create(&info);
        if (argv[i + 2][0] != 0) MPI_Info_set(info, "wdir", argv[i + 2]);
        if (argv[i + 3][0] != 0) MPI_Info_set(info, "path", argv[i + 3]);
        int error = MPI_Comm_spawn(argv[i + 1], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
        if (error == MPI_SUCCESS) MPI_Comm_disconnect(&inter);
        else MPI_Error_string(error, why, &length);
        printf("%s: %s\n", argv[i], why);
        MPI_Info_free(&info);
    }
    return MPI_Finalize();
}
