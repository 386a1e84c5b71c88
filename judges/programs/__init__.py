"""The published programs, each as it stands and in the form in which a general solver is fastest.

``lmi_*``           Lanckriet et al. (2004), weights of any sign: linear matrix inequalities
``qcqp_*``          Lanckriet et al. (2004), nonnegative weights: quadratic constraints in cones
``kernel_matrix_published``  both, for hard and soft margins, by cvxpy and CVXOPT
``discriminant_*``  Ye et al. (2007): semidefinite programs, and their dual
``projection_*``    Lewis et al. (2006): the quadratic program of one turn
``joint_clarabel``  Weston & Watkins, Zien & Ong: all classes in one machine
``tasks``, ``answers``  the problems in arrays, and what a solver hands back
"""
