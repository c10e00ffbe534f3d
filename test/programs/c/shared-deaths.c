/* Two files, each with a shared pointer: of a death only the members of its own file hear.
   Ranks 0 and 1 have one file, 2 and 3 the other, of whom 3 dies. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, class = 0, error = 0, i;
  MPI_Comm half;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  MPI_File_open(half, argv[1 + rank / 2], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 3) raise(SIGKILL);
  MPI_Recv(&i, 1, MPI_INT, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < 300 && error == 0; i++) error = MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Error_class(error, &class);
  printf("rank %d: %s\n", rank, error == 0 ? "wrote" : class == MPIX_ERR_PROC_FAILED ? "failed" : "erred");
  fflush(stdout);
  MPI_File_close(&file);
  MPI_Finalize();
}
