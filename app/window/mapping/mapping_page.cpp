#include "app/window/mapping/mapping_page.h"

#include "app/window/form_parts.h"
#include "app/window/mapping/mapping_bound.h"
#include "app/window/mapping/mapping_fusion.h"
#include "app/window/mapping/mapping_search.h"
#include "mapping/mapspace_dataflow.h"
#include "widgets/common/label.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/mapping/fused_list.h"
#include "widgets/mapping/loop_nest_view.h"
#include "widgets/mapping/mapper_scatter.h"
#include "widgets/mapping/systolic_animation.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedLayout>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include <set>

namespace orrery::app {

namespace {

constexpr int patience = 250;                   ///< ms after the last edit before a search starts by itself
constexpr std::uint64_t searchLength = 100000;  ///< valid mappings: a second or two

QString nameOfMapper(MapperKind kind) {
    switch (kind) {
        case MapperKind::Exhaustive:
            return MappingPage::tr("Exhaustive");
        case MapperKind::LinearPruned:
            return MappingPage::tr("Linear, pruned");
        case MapperKind::RandomPruned:
            return MappingPage::tr("Random, pruned");
        case MapperKind::LoopOrder:
            return MappingPage::tr("Loop orders (LOMA)");
        case MapperKind::Annealing:
            return MappingPage::tr("Annealing (SALSA)");
        case MapperKind::Genetic:
            return MappingPage::tr("Genetic (GAMMA)");
        case MapperKind::Optimal:
            return MappingPage::tr("Optimal, proven");
    }
    return {};
}

QString nameOfObjective(MapObjective objective) {
    switch (objective) {
        case MapObjective::Latency:
            return MappingPage::tr("Latency");
        case MapObjective::Energy:
            return MappingPage::tr("Energy");
        case MapObjective::Edp:
            return MappingPage::tr("Energy × delay");
        case MapObjective::LastLevelAccesses:
            return MappingPage::tr("DRAM accesses");
    }
    return {};
}

/// The three extents of the product that an array works on: rows of the result, its columns, what is summed over.
struct Product {
    std::int64_t m = 1, n = 1, k = 1;
};
Product productOf(const NestProblem& problem) {
    const auto has = [&](std::size_t tensor, std::size_t dimension) {
        for (const TensorRank& rank : problem.tensors[tensor].ranks) {
            for (const ProjectionTerm& term : rank.terms) {
                if (term.dimension == dimension) return true;
            }
        }
        return false;
    };
    Product product;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        (!has(2, d) ? product.k : has(1, d) ? product.n : product.m) *= problem.extents[d];
    }
    return product;
}

/// One image and one group of a convolution over two dimensions; none of a product, or where taps lie apart.
std::optional<systolic::Layer> convolutionOf(const NestProblem& problem) {
    const auto extent = [&](std::string_view name) -> std::int64_t {
        const auto found = std::ranges::find(problem.dimensions, name);
        return found == problem.dimensions.end()
                   ? 1
                   : problem.extents[static_cast<std::size_t>(found - problem.dimensions.begin())];
    };
    systolic::Layer layer;
    layer.name = problem.name;
    layer.channels = extent("C");
    layer.filters = extent("K");
    int axes = 0;
    for (const TensorRank& rank : problem.tensors.front().ranks) {
        if (rank.terms.size() != 2) continue;
        const auto& [position, tap] = std::pair(rank.terms[0], rank.terms[1]);
        if (tap.coefficient != 1) return std::nullopt;
        const std::int64_t out = problem.extents[position.dimension], taps = problem.extents[tap.dimension];
        const bool rows = axes++ == 0;
        (rows ? layer.filterHeight : layer.filterWidth) = taps;
        (rows ? layer.strideHeight : layer.strideWidth) = position.coefficient;
        (rows ? layer.ifmapHeight : layer.ifmapWidth) = position.coefficient * (out - 1) + taps;
    }
    if (axes != 2) return std::nullopt;
    return layer;
}

int unitsWide(int units) {
    return units * ui::Theme::instance().unit();
}

}  // namespace

namespace {

// Of the widget that is shown: what says that there is nothing needs no room for what there would be.
class RoomOfCurrent : public QStackedLayout {
public:
    using QStackedLayout::QStackedLayout;
    QSize minimumSize() const override {
        const QWidget* shown = currentWidget();
        return shown ? shown->minimumSizeHint().expandedTo(shown->minimumSize()) : QStackedLayout::minimumSize();
    }
    QSize sizeHint() const override {
        return currentWidget() ? currentWidget()->sizeHint() : QStackedLayout::sizeHint();
    }
};

}  // namespace

MappingPage::MappingPage(ui::Selection* selection, QWidget* parent)
    : Page(parent), selection_(selection), search_(new MappingSearch(this)) {
    setObjectName(QStringLiteral("mappingPage"));
    setAccessibleName(tr("Mapping"));
}

void MappingPage::build() {
    stack_ = new RoomOfCurrent(this);
    empty_ = new ui::EmptyPage(tr("No mapping yet"), {}, tr("Open an example with an array"), this);
    example_ = empty_->findChild<QPushButton*>(QStringLiteral("emptyStateButton"));
    example_->setToolTip(tr("Opens “Rows on an array”: AlexNet on an Eyeriss-like array"));
    connect(empty_, &ui::EmptyPage::clicked, this, &MappingPage::exampleRequested);
    array_ = named(new QPushButton(tr("Add an array to this project"), empty_), "mapping.addArray",
                   tr("Add an array to this project"),
                   tr("Adds the Eyeriss-like array of the library and runs this model on it"));
    if (auto* column = qobject_cast<QVBoxLayout*>(empty_->layout()))
        column->insertWidget(column->count() - 1, array_, 0, Qt::AlignHCenter);
    connect(array_, &QPushButton::clicked, this, &MappingPage::arrayRequested);
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(buildHead(page));
    side_ = named(new QTabWidget(page), "mapping.side", tr("Loops and array"),
                  tr("Loops and search, the array cycle by cycle, the minimum traffic, fused operators"));
    side_->setDocumentMode(true);
    side_->tabBar()->setObjectName(QStringLiteral("mapping.tabs"));
    side_->tabBar()->setAccessibleName(tr("Loops and array"));
    side_->tabBar()->setToolTip(tr("The loops with the search, or the array cycle by cycle"));
    auto* split = named(new QSplitter(Qt::Horizontal, ui::stackOf(side_)), "mapping.split", tr("Loops and search"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    nest_ = new ui::LoopNestView(split);
    nest_->setMinimumWidth(unitsWide(32));
    scatter_ = new ui::MapperScatter(split);
    split->addWidget(nest_);
    split->addWidget(scatter_);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 1);
    animation_ = new ui::SystolicAnimation(ui::stackOf(side_));
    side_->addTab(split, tr("Loops"));
    side_->addTab(animation_, tr("Array at work"));
    bound_ = new MappingBound(ui::stackOf(side_));
    fusion_ = new MappingFusion(ui::stackOf(side_));
    connect(fusion_->list(), &ui::FusedList::operatorChosen, this, [this](int op) { selection_->select({op}); });
    side_->addTab(bound_, tr("Least movement"));
    side_->addTab(fusion_, tr("Runs together"));
    column->addWidget(side_, 1);
    veil_ = new ui::Veil(side_);
    stack_->addWidget(empty_);
    stack_->addWidget(page);

    soon_.setSingleShot(true);
    soon_.setInterval(patience);
    connect(&soon_, &QTimer::timeout, this, &MappingPage::startSearch);
    connect(search_, &MappingSearch::advanced, this, &MappingPage::showSearch);
    connect(search_, &MappingSearch::found, this, [this](const MapperResultPtr& result) {
        nest_->setNest(nest_->problem(), nest_->hardware(), result->mapping);
        asFound_ = true;
        showResult();
    });
    connect(search_, &MappingSearch::refused, this, &MappingPage::showRefusal);
    connect(nest_, &ui::LoopNestView::mappingEdited, this, [this] {
        asFound_ = false;
        showResult();
    });
    connect(selection_, &ui::Selection::changed, this, &MappingPage::followSelection);
}

MappingPage::~MappingPage() = default;

QWidget* MappingPage::buildHead(QWidget* page) {
    const int unit = ui::Theme::instance().unit();
    auto* head = new QWidget(page);
    auto* rows = new QVBoxLayout(head);
    rows->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    rows->setSpacing(unit / 2);
    auto* row = new QHBoxLayout;
    row->setSpacing(unit);
    rows->addLayout(row);
    operator_ = named(new QComboBox(head), "mapping.operator", tr("Operator"),
                      tr("Operators that are loop nests, the largest first. Follows the selection of the other views"));
    operator_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    operator_->setMinimumContentsLength(22);
    part_ = named(new QComboBox(head), "mapping.part", tr("Part of the operator"),
                  tr("Attention is two products: queries with keys, scores with values"));
    mapper_ = named(new QComboBox(head), "mapping.mapper", tr("Mapper"), tr("How the space of mappings is searched"));
    for (std::size_t kind = 0; kind < mapperKindCount; ++kind)
        mapper_->addItem(nameOfMapper(static_cast<MapperKind>(kind)), static_cast<int>(kind));
    mapper_->setCurrentIndex(mapper_->findData(static_cast<int>(MapperKind::Annealing)));
    objective_ = named(new QComboBox(head), "mapping.objective", tr("Objective"), tr("The objective of the search"));
    for (const MapObjective objective :
         {MapObjective::Edp, MapObjective::Latency, MapObjective::Energy, MapObjective::LastLevelAccesses})
        objective_->addItem(nameOfObjective(objective), static_cast<int>(objective));
    seed_ = named(new QSpinBox(head), "mapping.seed", tr("Seed"), tr("The same seed finds the same mapping again"));
    seed_->setRange(1, 9999);
    seed_->setPrefix(tr("seed "));
    run_ = named(new QPushButton(tr("Search"), head), "mapping.run", tr("Search for a mapping"),
                 tr("Searches again. While it runs: stops it and keeps the best so far"));
    state_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, head);
    state_->setObjectName(QStringLiteral("mapping.state"));
    state_->setElided(true);
    for (QWidget* control : std::initializer_list<QWidget*>{operator_, part_, mapper_, objective_, seed_, run_})
        row->addWidget(control);
    row->addStretch(1);
    rows->addWidget(state_);
    connect(operator_, &QComboBox::activated, this, [this](int at) {
        chooseOperator(at);
        selection_->select({operators_[static_cast<std::size_t>(at)]});
    });
    connect(part_, &QComboBox::activated, this, [this] { askSoon(0); });
    connect(mapper_, &QComboBox::activated, this, [this] { askSoon(0); });
    connect(objective_, &QComboBox::activated, this, [this] {
        fusion_->setObjective(static_cast<MapObjective>(objective_->currentData().toInt()));
        askSoon(0);
    });
    connect(seed_, &QSpinBox::valueChanged, this, [this] { askSoon(patience); });
    connect(run_, &QPushButton::clicked, this, [this] { search_->isRunning() ? search_->cancel() : startSearch(); });
    return head;
}

void MappingPage::setScenario(HardwarePtr hardware, WorkloadPtr workload) {
    hardware_ = std::move(hardware);
    workload_ = std::move(workload);
    if (isVisible()) refresh();
}

void MappingPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    refresh();
}

void MappingPage::refresh() {
    if (hardware_ == shownHardware_ && workload_ == shownWorkload_) return;
    const bool sameWorkload = workload_ == shownWorkload_;
    shownHardware_ = hardware_;
    shownWorkload_ = workload_;
    view_.reset();
    if (!hardware_ || !workload_) {
        empty_->setTexts(tr("No mapping yet"), tr("With a design that has an array of processing elements and a model, "
                                                  "this page shows how each operator is placed on the array."));
        return showEmpty(workload_ != nullptr);
    }
    const Expected<SpatialArrayView> view = spatialArrayView(*hardware_);
    if (!view) {
        empty_->setTexts(tr("This design has no array to map onto"),
                         ui::windowText(view.error().message) +
                             tr(". Choose an accelerator, or add an array here, from the library, or on the Hardware "
                                "page from the palette of parts."));
        return showEmpty(true);
    }
    view_ = *view;
    fusion_->setScenario(view_, workload_);
    if (!sameWorkload || operators_.empty()) readOperators();
    if (operators_.empty()) {
        empty_->setTexts(tr("Nothing to map"),
                         tr("None of this model's operators is a product of matrices, a convolution or an attention."));
        return showEmpty(false);
    }
    stack_->setCurrentIndex(1);
    updateGeometry();
    chooseOperator(std::max(operator_->currentIndex(), 0));
}

void MappingPage::showEmpty(bool wantsArray) {
    example_->setVisible(wantsArray);
    array_->setVisible(wantsArray);
    stack_->setCurrentIndex(0);
    stack_->invalidate();
    updateGeometry();
}

void MappingPage::readOperators() {
    const QSignalBlocker quiet(operator_);
    operator_->clear();
    operators_.clear();
    const Graph& graph = workload_->graph;
    std::vector<std::pair<double, int>> bySize;
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        if (!mappable(graph.operators[op], graph)) continue;
        bySize.emplace_back(-workload_->costs.macs[op] * workload_->costs.repeat[op], static_cast<int>(op));
    }
    std::ranges::sort(bySize);
    for (const auto& [size, op] : bySize) {
        operators_.push_back(op);
        operator_->addItem(ui::qs(graph.operators[static_cast<std::size_t>(op)].name));
    }
    followSelection();
}

void MappingPage::followSelection() {
    const auto& chosen = selection_->operators();
    if (chosen.size() != 1 || operators_.empty()) return;
    const auto found = std::ranges::find(operators_, *chosen.begin());
    if (found == operators_.end()) return;
    const int row = static_cast<int>(found - operators_.begin());
    if (row == operator_->currentIndex()) return;
    operator_->setCurrentIndex(row);
    if (isVisible() && view_) chooseOperator(row);
}

void MappingPage::chooseOperator(int row) {
    const Graph& graph = workload_->graph;
    nests_ = nestsOf(graph.operators[static_cast<std::size_t>(operators_[static_cast<std::size_t>(row)])], graph);
    const int before = part_->currentIndex();
    const QSignalBlocker quiet(part_);
    part_->clear();
    for (const OperatorNest& nest : nests_) part_->addItem(ui::qs(nest.problem.name));
    part_->setVisible(nests_.size() > 1);
    part_->setCurrentIndex(before >= 0 && before < part_->count() ? before : 0);
    askSoon(patience);
}

void MappingPage::askSoon(int milliseconds) {
    if (!nest_->problem().dimensions.empty())
        veil_->dropSoon(
            tr("This is the answer to the previous question. The search for the new question is about to start."));
    soon_.start(milliseconds);
}

void MappingPage::startSearch() {
    soon_.stop();
    if (!view_ || nests_.empty()) return;
    const OperatorNest& nest = nests_[static_cast<std::size_t>(std::max(part_->currentIndex(), 0))];
    const ArrayHardware array = nestHardware(*view_);
    Expected<Mapspace> space = Mapspace::make(nest.problem, array.hardware, dataflowConstraints(*view_, nest.problem));
    if (!space) {
        if (!nest_->problem().dimensions.empty())
            veil_->drop(tr("This is the answer to the previous question. The new question has no mapping: see above."));
        return showRefusal(space.error());
    }
    MapperOptions options;
    options.kind = static_cast<MapperKind>(mapper_->currentData().toInt());
    options.objectives = {static_cast<MapObjective>(objective_->currentData().toInt()), MapObjective::Latency};
    withoutEnergies_ = !array.energies;
    if (withoutEnergies_ && options.objectives[0] != MapObjective::LastLevelAccesses)
        options.objectives = {MapObjective::Latency, MapObjective::LastLevelAccesses};
    options.seed = static_cast<std::uint64_t>(seed_->value());
    options.evaluations = searchLength;
    NestMapping none;
    none.levels.resize(array.hardware.levels.size());
    veil_->lift();
    nest_->setNest(nest.problem, array.hardware, none);
    bound_->setNest(nest.problem, array.hardware);
    showArray();
    search_->start(std::make_shared<const Mapspace>(std::move(*space)), options);
    showSearch();
}

void MappingPage::showArray() {
    const Dataflow dataflow = view_->dataflow.value_or(Dataflow::WeightStationary);
    if (dataflow == Dataflow::RowStationary) {
        const auto layer = convolutionOf(nests_[static_cast<std::size_t>(std::max(part_->currentIndex(), 0))].problem);
        if (layer)
            return animation_->setConvolution(static_cast<int>(view_->rows), static_cast<int>(view_->columns), *layer);
        return animation_->clear(
            tr("A row-stationary array keeps rows of a filter. Choose a convolution over two "
               "dimensions without dilation to see it at work."));
    }
    const Product product = productOf(nests_[static_cast<std::size_t>(std::max(part_->currentIndex(), 0))].problem);
    animation_->setProduct(static_cast<int>(view_->rows), static_cast<int>(view_->columns), dataflow, product.m,
                           product.n, product.k);
}

void MappingPage::showSearch() {
    const bool running = search_->isRunning();
    run_->setText(running ? tr("Stop") : tr("Search"));
    scatter_->setCurve(search_->curve(), nest_->hardware().clock);
    scatter_->setLowerBound(search_->lowerBound());
    if (running) {
        state_->setTone(ui::Tone::Muted);
        QString text = tr("%L1 mappings tried, %L2 fit")
                           .arg(static_cast<qulonglong>(search_->examined()))
                           .arg(static_cast<qulonglong>(search_->valid()));
        if (const QString gap = gapText(); !gap.isEmpty()) text += QStringLiteral(" · ") + gap;
        state_->setFullText(text);
    }
}

QString MappingPage::gapText() const {
    const double bound = search_->lowerBound();
    if (!(bound > 0) || search_->curve().empty()) return {};
    const double gap = 1 - bound / search_->curve().back().objective;
    return gap <= 1e-9 ? tr("proven best") : tr("at most %1 % from the optimum").arg(100 * gap, 0, 'f', 2);
}

void MappingPage::showResult() {
    run_->setText(tr("Search"));
    const std::optional<NestCounts>& counts = nest_->counts();
    bound_->setMapping(nest_->mapping(), counts);
    if (!counts) return state_->setFullText({});
    state_->setTone(ui::Tone::Normal);
    const Hertz clock = nest_->hardware().clock;
    QString text = tr("%L1 cycles").arg(counts->cycles, 0, 'f', 0);
    if (clock.value > 0) text += QStringLiteral(" = ") + ui::text(Seconds(counts->cycles / clock.value));
    text += tr(" · %1 % of the array busy").arg(100 * counts->utilisation, 0, 'f', 1);
    if (withoutEnergies_) text += tr(" · the design gives no energies: searched by latency");
    if (counts->energy > 0) text += QStringLiteral(" · ") + ui::text(Joules(counts->energy));
    if (const QString gap = gapText(); !gap.isEmpty() && asFound_) text += QStringLiteral(" · ") + gap;
    state_->setFullText(text);
}

void MappingPage::showRefusal(const Diagnostic& why) {
    run_->setText(tr("Search"));
    state_->setTone(ui::Tone::Bad);
    state_->setFullText(ui::windowText(why.message));
    nest_->clear(ui::windowText(why.message) + QLatin1Char('\n') + ui::windowText(why.hint));
    emit refused(why);
}

}  // namespace orrery::app
