"""What each estimator is about: its row in the table of methods; siblings have one in common.

P kernels K_m of n samples with d columns, their weights μ or η, the value J of a machine on their sum.
"""

from ..weights.learner import About

MKL = About(
    family="margin",
    problem=(
        "min J(μ), μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1, J the value of a support vector machine on Σ μ_m K_m, d its "
        "costs"
    ),
    solver="Newton's steps over warm-started machines (SMO), active kernels only; duality gap",
    cost=(
        "some ten machines, reads of the active kernels; memory P n² for the kernels and a third beside them"
    ),
    use="The first learned model to try: sparse weights of views at norm=1, all kernels in use at norm=2.",
    reference="Lanckriet et al. 2004; Bach, Lanckriet & Jordan 2004; Kloft et al. 2011",
)

RIDGE = About(
    family="ridge",
    problem="min Σ_k ½‖y_k − f_k‖² + ½α‖f_k‖² in the space of Σ μ_m K_m, μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1",
    solver="Newton's steps over the weights, a linear system for each value; duality gap",
    cost="n³/3 + P n² for each of some ten steps; memory P n² for the kernels and a third beside them",
    use="Values with Gaussian noise, or several outputs that are to share their kernels.",
    reference="Cortes, Mohri & Rostamizadeh 2009; Kloft et al. 2011",
)

PAIRS = About(
    family="ridge",
    problem=(
        "min Σ w(y − f(a, b))² + α‖f‖² in the space of Σ μ_m K_m ⊗ Σ ν_m K'_m, or of its symmetric form; "
        "μ, ν in simplices"
    ),
    solver=(
        "two eigendecompositions, or conjugate gradients where pairs are missing; duality gap; weights: "
        "Newton's steps by turns, stationarity"
    ),
    cost="n_left³ + n_right³ once, or pairs · (n_left + n_right) a product; no Gram matrix of the pairs",
    use="Values of pairs: drugs and targets, proteins and proteins, also for objects that are new.",
    reference="Ben-Hur & Noble 2005; Airola & Pahikkala 2018; Stock et al. 2018",
)

MULTICLASS = About(
    family="margin",
    problem="min ½ Σ ‖w_ml‖²/μ_m + C Σ_i Σ_{l≠y_i} [2 − f^{y_i}(x_i) + f^l(x_i)]₊, μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1",
    solver="Newton's steps over the weights, SMO on all classes at once; duality gap",
    cost="some ten machines of n times the classes variables; memory P n²",
    use="More than two classes that are to share one set of weights, and whose margins compete.",
    reference="Weston & Watkins 1999; Zien & Ong 2007",
)

REGULARIZED = About(
    family="margin",
    problem="min over costs d of the validation error of multiple kernel learning with Σ d_m² μ_m = 1",
    solver=(
        "a response surface through cross-validated errors, MKL at each point; the last model has a duality "
        "gap"
    ),
    cost="P(P+1)/2 points, each cv warm-started fits of MKL; memory cv P n²",
    use="Banks with a few very flexible kernels that win on the training samples; fewer support samples.",
    reference="Gönen & Alpaydın 2011",
)

POSTERIOR = About(
    family="margin",
    problem="min ½‖w‖² + C Σ ξ_i, ŷ_i f(x_i) ≥ ŷ_i² (1 − ξ_i), soft labels ŷ_i = P(+|x_i) − P(−|x_i)",
    solver=(
        "soft labels from neighbours, Parzen windows or an estimator; then as multiple kernel learning, "
        "duality gap"
    ),
    cost="the neighbours, n²; then that of multiple kernel learning",
    use="Labels of which some are wrong, or that come with probabilities.",
    reference="Tao et al. 2005; Gönen, Tanuğur & Alpaydın 2008",
)

TRANSDUCTIVE = About(
    family="transductive",
    problem=(
        "min over K = Σ μ_i K_i ⪰ 0, tr K = c, of the value of a margin machine, or max of the alignment; μ "
        "≥ 0 or free"
    ),
    solver="an interior point method of our own; duality gap to 1e-8",
    cost=(
        "P n³ a step of the interior point for free weights, some twenty steps; memory of six stacks of "
        "P n² (free) or two"
    ),
    use="The points to classify are known beforehand, some hundreds of them.",
    reference="Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan 2004",
)

LOCALIZED = About(
    family="localized",
    problem=(
        "min_V J(V), J the value of a support vector machine on Σ η_m(x) k_m(x, z) η_m(z), η a gate with "
        "parameters V"
    ),
    solver=(
        "steps against the gradient over warm-started machines; the machine has a duality gap, the gate none"
    ),
    cost="some tens of machines, each with P n²; memory of the distinct kernels and two n² more",
    use="Kernels that are right in one part of the space and wrong in another; to see which counts where.",
    reference="Gönen & Alpaydın 2008, 2013",
)

PROJECTION = About(
    family="localized",
    problem="min_{W, V} J(W, V), J the value of a support vector machine on Σ η_m(x) k₀(W_m'x, W_m'z) η_m(z)",
    solver=(
        "steps against the gradient over warm-started machines; the machine has a duality gap, the "
        "projections none"
    ),
    cost="some tens of machines, each with n² d; memory n², or 2 n² for several regions",
    use="Many columns of which a few directions matter; to draw samples in the plane that the machine uses.",
    reference="Gönen & Alpaydın 2010",
)

NONSTATIONARY = About(
    family="localized",
    problem=(
        "f(x) = ln Σ e^{F⁺_m(x)} − ln Σ e^{F⁻_m(x)}: a mixture of kernel Gaussians for each class, with a "
        "margin"
    ),
    solver="posteriors and a convex program by turns, interior point; distance to a stationary point",
    cost=(
        "(n P)³/3 at most for each step of the interior point; memory two matrices of (n P)²; up to some "
        "2000 samples"
    ),
    use="Two or more mechanisms, each with a kernel of its own, and a map of where which one speaks.",
    reference="Lewis, Jebara & Noble 2006",
)

DISCRIMINANT = About(
    family="discriminant",
    problem=(
        "min λ tr H'(λI + Σ θ_i G̃_i)⁻¹H, θ ≥ 0, θ'r = 1: scatter between the classes against total "
        "scatter and λ"
    ),
    solver="Newton over the simplex, duality gap",
    cost="n³/3 + P n² for each of some ten iterations; memory P n² and a third, and four n²",
    use="Many classes, a projection to look at, and a regularisation that is learned with the weights.",
    reference="Ye, Chen & Ji 2007",
)

KDDA = About(
    family="discriminant",
    problem="directions in which S_b is white and S_w + reg S_b = I; the null space of S_b is given up first",
    solver="two eigendecompositions, exact",
    cost="n³ at most, n² memory",
    use="One kernel, few samples for each of many classes, such as faces.",
    reference="Lu, Plataniotis & Venetsanopoulos 2003",
)

NEIGHBOURS = About(
    family="one kernel",
    problem="a vote of the neighbours by d² = k(x, x) + k(z, z) − 2 k(x, z)",
    solver="none: every training sample is looked at, which is exact",
    cost="n² to check the kernel; n for each prediction",
    use="The plain rule to beat on one kernel, or the machine on a combined kernel of your own.",
    reference="Yu, Ji & Zhang 2002",
)

SPECTRAL = About(
    family="one kernel",
    problem="max tr S_b − α tr S_w over the eigenvalues μ_r² of K_μ = Σ μ_r² v_r v_r', Σ μ_r = Σ √w_r",
    solver="closed form; the width by leave-one-out, exact for each candidate",
    cost="n³ for each width tried (ten), n² memory three times",
    use=(
        "Few labels among known points, where a few leading eigenvectors carry the classes and the rest is "
        "noise."
    ),
    reference="Yeung, Chang & Dai 2007; Cristianini et al. 2002",
)

CONFORMAL = About(
    family="one kernel",
    problem="max tr S_b / tr S_w over q(x) = a₀ + Σ a_j k₀(x, c_j), k(x, z) = q(x) q(z) k₀(x, z)",
    solver=(
        "small steps along the gradient, none of which lowers the value; or a generalised eigenvector, exact"
    ),
    cost="n² for each core once, then n times the cores a step; n² memory",
    use=(
        "One kernel whose resolution should be finer at the border of the classes; a step before another "
        "machine."
    ),
    reference="Amari & Wu 1999; Xiong, Swamy & Ahmad 2005",
)

COMBINED = About(
    family="combined",
    problem="η = learner(K_1, …, K_P, y), then a machine on s Σ η_m K_m, s such that the mean diagonal is 1",
    solver="the learner's, with its certificate; then the machine's",
    cost="the learner's and one machine; memory P n² for the kernels and n² for the sum",
    use="A rule of your choice, plain sums included, under a machine of your choice.",
    reference="Gönen & Alpaydın 2011 (survey)",
)

COLUMN_BOOSTING = About(
    family="boosting",
    problem="f = Σ α_mj K_m(·, x_j) + b: min Σ s|α| or ½Σ(sα)² + C Σ loss, s the column's root mean "
    "square (normalise) or 1; MARK: ridge on few columns",
    solver="interior point on all columns, generation of at most so many, duality gap; MARK: greedy",
    cost="P n³ a step of the LP, P n³ once and n³ a step for the QP; MARK: P n² a round",
    use="Few columns to evaluate at prediction; each sample may use other kernels.",
    reference="Bennett, Momma & Embrechts 2002; Bi, Zhang & Bennett 2004",
)

BAYESIAN = About(
    family="bayesian",
    problem="posterior of a, e, b and noise in f = Σ e_m g_m + b, g_m ≈ K_m a",
    solver="mean-field variational updates, extrapolated; the evidence bound never falls, stationarity",
    cost="n³ + P³ + P n² a sweep, some tens to hundreds of sweeps",
    use="To know how sure each weight and each prediction is; up to some thousand samples.",
    reference="Gönen 2012",
)

COMPOSITIONAL = About(
    family="nonlinear",
    problem="one machine on the (P n)² matrix of all kernels and cross-kernels K_m^½ K_h^½",
    solver="the machine's",
    cost="(P n)² memory, P n³ for the square roots, and the machine on P n samples",
    use="Few samples and kernels, where different kernels matter at different samples.",
    reference="Lee, Verzakov & Duin 2007",
)

KMEANS = About(
    family="clustering",
    problem="min Σ η_m² a_m over clusters and η on the simplex, a_m the spread within clusters",
    solver="single moves of samples and η_m ∝ 1/a_m in turn; the objective never rises, several starts",
    cost="P n² a turn, some tens of turns a start",
    use="Groups without labels, from several views of which some may be noise.",
    reference="Huang, Chuang & Chen 2012; Gönen & Margolin 2014",
)

PCA = About(
    family="embedding",
    problem="leading eigenvectors of the centred kernel that a learner combined",
    solver="the learner's; then an eigendecomposition",
    cost="the learner's and n² a component, or n³",
    use="To look at the samples as the learned kernel sees them, or as features for another model.",
    reference="Schölkopf, Smola & Müller 1998",
)
