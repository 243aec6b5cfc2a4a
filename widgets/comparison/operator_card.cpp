#include "widgets/comparison/operator_card.h"

#include "widgets/common/fact_list.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/operator_facts.h"

#include <QVBoxLayout>

#include <numeric>
#include <set>

namespace orrery::ui {
namespace {

template <class T>
QString joined(const std::vector<T>& values) {
    QStringList words;
    for (const T& value : values) {
        if constexpr (std::is_same_v<T, std::string>)
            words << qs(value);
        else
            words << QString::number(value);
        if (words.size() == 16 && values.size() > 16) {
            words << QStringLiteral("… %1").arg(values.size());
            break;
        }
    }
    return words.join(QStringLiteral(", "));
}

QString attributeText(const OperatorAttribute& attribute) {
    return std::visit(
        [](const auto& value) -> QString {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::string>)
                return qs(value);
            else if constexpr (std::is_arithmetic_v<T>)
                return QString::number(value);
            else
                return joined(value);
        },
        attribute);
}

}  // namespace

OperatorCard::OperatorCard(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(12, 8, 12, 12);
    column->setSpacing(2);
    title_ = new Label({}, FontRole::Title, Tone::Normal, page);
    title_->setElided(true);
    title_->setBold(true);
    subtitle_ = new Label({}, FontRole::Small, Tone::Muted, page);
    subtitle_->setWordWrap(true);
    answerHeader_ = new SectionHeader(tr("Answer"), page);
    answer_ = new FactList(page);
    costs_ = new FactList(page);
    costs_->setObjectName(QStringLiteral("operator.costs"));
    tensorsHeader_ = new SectionHeader(tr("Tensors"), page);
    tensors_ = new FactList(page, FontRole::Mono);
    tensors_->setObjectName(QStringLiteral("operator.tensors"));
    attributesHeader_ = new SectionHeader(tr("Attributes"), page);
    attributes_ = new FactList(page, FontRole::Mono);
    attributes_->setObjectName(QStringLiteral("operator.attributes"));
    placeHeader_ = new SectionHeader(tr("In the model"), page);
    place_ = new FactList(page);
    place_->setObjectName(QStringLiteral("operator.place"));
    column->addWidget(title_);
    column->addWidget(subtitle_);
    column->addWidget(answerHeader_);
    column->addWidget(answer_);
    column->addWidget(new SectionHeader(tr("One execution"), page));
    column->addWidget(costs_);
    column->addWidget(tensorsHeader_);
    column->addWidget(tensors_);
    column->addWidget(placeHeader_);
    column->addWidget(place_);
    column->addWidget(attributesHeader_);
    column->addWidget(attributes_);
    column->addStretch(1);
    setWidget(page);
}

void OperatorCard::show(WorkloadPtr workload, int op, const Estimate* estimate) {
    const auto row = static_cast<std::size_t>(op);
    if (!workload || op < 0 || row >= workload->graph.operators.size()) return;
    const Operator& shown = workload->graph.operators[row];
    title_->setToolTip(qs(shown.name));
    title_->setFullText(qs(shown.name).section(QLatin1Char('/'), -1));
    QString under = qs(shown.type) + QStringLiteral(" · ") + kindText(shown.kind);
    if (shown.repeat > 1) under += QStringLiteral(" · ×%1").arg(shown.repeat);
    if (!shown.block.empty()) under += QStringLiteral(" · ") + qs(shown.block);
    subtitle_->setFullText(under);
    showEstimate(estimate, row);
    showCosts(*workload, row);
    showTensors(workload->graph, shown);
    showPlace(*workload, row);
    std::vector<Fact> attributes;
    for (const auto& [name, value] : shown.attributes) attributes.push_back({qs(name), attributeText(value), {}});
    attributesHeader_->setVisible(!attributes.empty());
    attributes_->setFacts(std::move(attributes));
}

void OperatorCard::showTensors(const Graph& graph, const Operator& op) {
    std::vector<Fact> facts;
    const auto add = [&](const QString& label, TensorId id) {
        const Tensor* tensor = graph.tensor(id);
        if (!tensor) return;
        const QString shape = tensor->ranked ? qs(toText(tensor->shape)) : tr("unknown shape");
        facts.push_back({label, shape + QLatin1Char(' ') + qs(toText(tensor->type)),
                         QStringLiteral("%1\n%2 %3\n%4")
                             .arg(qs(tensor->name), shape, qs(toText(tensor->type)), qs(format(tensor->bytes())))});
    };
    for (const TensorId id : op.inputs) {
        const Tensor* tensor = graph.tensor(id);
        const bool weight = tensor && tensor->role == TensorRole::Weight;
        const bool cache = tensor && tensor->role == TensorRole::KvCache;
        add(weight ? tr("Weight") : cache ? tr("KV cache") : tr("Input"), id);
    }
    for (const TensorId id : op.outputs) add(tr("Output"), id);
    tensorsHeader_->setVisible(!facts.empty());
    tensors_->setFacts(std::move(facts));
}

/// Stored elements of its weights, each tensor once.
double OperatorCard::parameters(const Graph& graph, const Operator& op) {
    double count = 0;
    std::set<TensorId> seen;
    for (const TensorId id : op.inputs) {
        const Tensor* tensor = graph.tensor(id);
        if (tensor && tensor->role == TensorRole::Weight && seen.insert(id).second) count += tensor->elements();
    }
    return count;
}

/// Where it stands, how often it runs, and what all its runs come to.
void OperatorCard::showPlace(const Workload& workload, std::size_t row) {
    const Operator& op = workload.graph.operators[row];
    std::vector<Fact> facts{{tr("Name"), qs(op.name).section(QLatin1Char('/'), -1), qs(op.name)}};
    if (!op.block.empty()) facts.push_back({tr("Block"), qs(op.block), qs(op.block)});
    facts.push_back({tr("Runs"), countText(static_cast<double>(op.repeat)),
                     tr("Times in one pass of the model: equal layers are folded into one")});
    const CostTable& costs = workload.costs;
    if (op.repeat > 1 && row < costs.size()) {
        const double runs = costs.repeat[row];
        const auto all = [&facts](const QString& label, double value, Dimension dimension) {
            if (value > 0) facts.push_back({label, qs(formatMeasure(value, dimension)), fullText(value, dimension)});
        };
        all(tr("Work of all runs"), runs * costs.flops[row], Dimension::Operations);
        all(tr("Bytes of all runs"), runs * costs.bytes(row), Dimension::Data);
    }
    place_->setFacts(std::move(facts));
}

void OperatorCard::showCosts(const Workload& workload, std::size_t row) {
    const CostTable& costs = workload.costs;
    std::vector<Fact> facts;
    if (row < costs.size()) {
        const auto add = [&facts](const QString& label, double value, Dimension dimension) {
            if (value > 0) facts.push_back({label, qs(formatMeasure(value, dimension)), fullText(value, dimension)});
        };
        add(tr("Work"), costs.flops[row], Dimension::Operations);
        add(tr("Weights read"), costs.weightBytes[row], Dimension::Data);
        add(tr("KV cache read"), costs.kvReadBytes[row], Dimension::Data);
        add(tr("KV cache written"), costs.kvWriteBytes[row], Dimension::Data);
        add(tr("Activations read"), costs.inputBytes[row], Dimension::Data);
        add(tr("Activations written"), costs.outputBytes[row], Dimension::Data);
        add(tr("Scratch"), costs.scratchBytes[row], Dimension::Data);
        add(tr("Bytes in all"), costs.bytes(row), Dimension::Data);
        if (const double weights = parameters(workload.graph, workload.graph.operators[row]); weights > 0)
            facts.push_back({tr("Parameters"), qs(formatMeasure(weights, Dimension::Count)), countText(weights)});
        if (const double bytes = costs.bytes(row); bytes > 0)
            add(tr("Intensity"), costs.flops[row] / bytes, Dimension::Intensity);
        const GemmShape& gemm = costs.gemm[row];
        if (gemm.m > 0)
            facts.push_back({tr("As matrix product"),
                             QStringLiteral("%1 × [%2×%3]·[%3×%4]").arg(gemm.batch).arg(gemm.m).arg(gemm.k).arg(gemm.n),
                             {}});
    }
    costs_->setFacts(std::move(facts));
}

void OperatorCard::showEstimate(const Estimate* estimate, std::size_t row) {
    std::vector<Fact> facts;
    if (estimate && row < estimate->operators.size()) {
        const OperatorEstimates& columns = estimate->operators;
        const double seconds = columns.seconds[row];
        const double all = std::accumulate(columns.seconds.begin(), columns.seconds.end(), 0.0);
        facts.push_back({tr("Time"), qs(formatMeasure(seconds, Dimension::Time)), fullText(seconds, Dimension::Time)});
        if (all > 0)
            facts.push_back(
                {tr("Share"), qs(formatMeasure(seconds / all, Dimension::Fraction)), tr("Of all operators’ time")});
        facts.push_back({tr("Bound by"), boundText(columns.bound[row], *estimate), {}});
        if (seconds > 0)
            facts.push_back({tr("Attained"), qs(formatMeasure(columns.flops[row] / seconds, Dimension::OperationRate)),
                             fullText(columns.flops[row] / seconds, Dimension::OperationRate)});
        if (row < columns.joules.size())
            facts.push_back({tr("Energy"), qs(formatMeasure(columns.joules[row], Dimension::Energy)),
                             fullText(columns.joules[row], Dimension::Energy)});
        answerHeader_->setText(tr("Answer of %1").arg(qs(estimate->method)));
    }
    answerHeader_->setVisible(!facts.empty());
    answer_->setFacts(std::move(facts));
}

}  // namespace orrery::ui
