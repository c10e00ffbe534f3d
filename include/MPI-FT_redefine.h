/* Programs that were written for the fault-simulation layer of the thesis include this file. Nothing needs to be redefined here. */
#include <MPI-FT.h>
