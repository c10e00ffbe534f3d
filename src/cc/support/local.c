/* MPI functions that need nothing of the runtime: handles are numbers already, addresses are flat. */
#include <mpi.h>

#include "banyan.h"

BANYAN_DEFINE(MPI_Aint, MPI_Aint_add, (MPI_Aint base, MPI_Aint disp)) { return base + disp; }
BANYAN_DEFINE(MPI_Aint, MPI_Aint_diff, (MPI_Aint addr1, MPI_Aint addr2)) { return addr1 - addr2; }

BANYAN_DEFINE(MPI_Fint, MPI_Comm_c2f, (MPI_Comm comm)) { return (MPI_Fint)comm; }
BANYAN_DEFINE(MPI_Comm, MPI_Comm_f2c, (MPI_Fint comm)) { return (MPI_Comm)comm; }
BANYAN_DEFINE(int, MPI_Comm_toint, (MPI_Comm comm)) { return (int)comm; }
BANYAN_DEFINE(MPI_Comm, MPI_Comm_fromint, (int comm)) { return (MPI_Comm)comm; }
BANYAN_DEFINE(MPI_Fint, MPI_Errhandler_c2f, (MPI_Errhandler errhandler)) { return (MPI_Fint)errhandler; }
BANYAN_DEFINE(MPI_Errhandler, MPI_Errhandler_f2c, (MPI_Fint errhandler)) { return (MPI_Errhandler)errhandler; }
BANYAN_DEFINE(int, MPI_Errhandler_toint, (MPI_Errhandler errhandler)) { return (int)errhandler; }
BANYAN_DEFINE(MPI_Errhandler, MPI_Errhandler_fromint, (int errhandler)) { return (MPI_Errhandler)errhandler; }
BANYAN_DEFINE(MPI_Fint, MPI_File_c2f, (MPI_File file)) { return (MPI_Fint)file; }
BANYAN_DEFINE(MPI_File, MPI_File_f2c, (MPI_Fint file)) { return (MPI_File)file; }
BANYAN_DEFINE(int, MPI_File_toint, (MPI_File file)) { return (int)file; }
BANYAN_DEFINE(MPI_File, MPI_File_fromint, (int file)) { return (MPI_File)file; }
BANYAN_DEFINE(MPI_Fint, MPI_Group_c2f, (MPI_Group group)) { return (MPI_Fint)group; }
BANYAN_DEFINE(MPI_Group, MPI_Group_f2c, (MPI_Fint group)) { return (MPI_Group)group; }
BANYAN_DEFINE(int, MPI_Group_toint, (MPI_Group group)) { return (int)group; }
BANYAN_DEFINE(MPI_Group, MPI_Group_fromint, (int group)) { return (MPI_Group)group; }
BANYAN_DEFINE(MPI_Fint, MPI_Info_c2f, (MPI_Info info)) { return (MPI_Fint)info; }
BANYAN_DEFINE(MPI_Info, MPI_Info_f2c, (MPI_Fint info)) { return (MPI_Info)info; }
BANYAN_DEFINE(int, MPI_Info_toint, (MPI_Info info)) { return (int)info; }
BANYAN_DEFINE(MPI_Info, MPI_Info_fromint, (int info)) { return (MPI_Info)info; }
BANYAN_DEFINE(MPI_Fint, MPI_Message_c2f, (MPI_Message message)) { return (MPI_Fint)message; }
BANYAN_DEFINE(MPI_Message, MPI_Message_f2c, (MPI_Fint message)) { return (MPI_Message)message; }
BANYAN_DEFINE(int, MPI_Message_toint, (MPI_Message message)) { return (int)message; }
BANYAN_DEFINE(MPI_Message, MPI_Message_fromint, (int message)) { return (MPI_Message)message; }
BANYAN_DEFINE(MPI_Fint, MPI_Op_c2f, (MPI_Op op)) { return (MPI_Fint)op; }
BANYAN_DEFINE(MPI_Op, MPI_Op_f2c, (MPI_Fint op)) { return (MPI_Op)op; }
BANYAN_DEFINE(int, MPI_Op_toint, (MPI_Op op)) { return (int)op; }
BANYAN_DEFINE(MPI_Op, MPI_Op_fromint, (int op)) { return (MPI_Op)op; }
BANYAN_DEFINE(MPI_Fint, MPI_Request_c2f, (MPI_Request request)) { return (MPI_Fint)request; }
BANYAN_DEFINE(MPI_Request, MPI_Request_f2c, (MPI_Fint request)) { return (MPI_Request)request; }
BANYAN_DEFINE(int, MPI_Request_toint, (MPI_Request request)) { return (int)request; }
BANYAN_DEFINE(MPI_Request, MPI_Request_fromint, (int request)) { return (MPI_Request)request; }
BANYAN_DEFINE(MPI_Fint, MPI_Session_c2f, (MPI_Session session)) { return (MPI_Fint)session; }
BANYAN_DEFINE(MPI_Session, MPI_Session_f2c, (MPI_Fint session)) { return (MPI_Session)session; }
BANYAN_DEFINE(int, MPI_Session_toint, (MPI_Session session)) { return (int)session; }
BANYAN_DEFINE(MPI_Session, MPI_Session_fromint, (int session)) { return (MPI_Session)session; }
BANYAN_DEFINE(MPI_Fint, MPI_Type_c2f, (MPI_Datatype datatype)) { return (MPI_Fint)datatype; }
BANYAN_DEFINE(MPI_Datatype, MPI_Type_f2c, (MPI_Fint datatype)) { return (MPI_Datatype)datatype; }
BANYAN_DEFINE(int, MPI_Type_toint, (MPI_Datatype datatype)) { return (int)datatype; }
BANYAN_DEFINE(MPI_Datatype, MPI_Type_fromint, (int datatype)) { return (MPI_Datatype)datatype; }
BANYAN_DEFINE(MPI_Fint, MPI_Win_c2f, (MPI_Win win)) { return (MPI_Fint)win; }
BANYAN_DEFINE(MPI_Win, MPI_Win_f2c, (MPI_Fint win)) { return (MPI_Win)win; }
BANYAN_DEFINE(int, MPI_Win_toint, (MPI_Win win)) { return (int)win; }
BANYAN_DEFINE(MPI_Win, MPI_Win_fromint, (int win)) { return (MPI_Win)win; }
