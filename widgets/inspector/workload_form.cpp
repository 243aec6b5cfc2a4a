#include "widgets/inspector/workload_form.h"

#include "widgets/common/fact_list.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/value_edit.h"
#include "widgets/inspector/attribute_row.h"
#include "widgets/messages/problem_list.h"
#include "workload/lacking_type.h"
#include "workload/one_type.h"

#include <QCheckBox>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

QStringList dtypeNames() {
    QStringList names;
    for (const DType type : {DType::F32, DType::BF16, DType::F16, DType::FP8, DType::I8, DType::FP4, DType::I4})
        names << qs(toText(type));
    return names;
}

// Types, then those that share scales.
QStringList formatNames() {
    QStringList names = dtypeNames();
    for (const std::string& name : scaledFormatNames()) names << qs(name);
    return names;
}

std::optional<Diagnostic> checkPositive(const QString& text) {
    const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
    if (!measure) return measure.error();
    if (measure->si >= 1 && measure->si <= 1e9) return std::nullopt;
    return Diagnostic{Severity::Error,      "workload.option",     "This is at least 1",
                      "1 to 1,000,000,000", "Type a whole number", {}};
}

// Of a graph that was read: its file says the types.
QString ownTypes() {
    return WorkloadForm::tr("as in the file");
}

// Of its weights: with what they are multiplied by.
QString asTheRest() {
    return WorkloadForm::tr("as the rest");
}

// Weights in fp16 are those of the graph in fp16: the option says nothing then.
QStringList ownWeightNames() {
    QStringList names{asTheRest()};
    const QString usual = qs(toText(WorkloadOptions{}.weightFormat()));
    for (const QString& name : formatNames())
        if (name != usual) names << name;
    return names;
}

bool readFromGraph(const WorkloadRecipe& recipe) {
    const QString ending = qs(recipe.source).section(QLatin1Char('.'), -1).toLower();
    return hasOwnTypes(recipe.source) || ending == QLatin1String("yaml") || ending == QLatin1String("yml");
}

const QString bindingPrefix = QStringLiteral("bind.");
const QString typeRow = QStringLiteral("type");

/// An ONNX file whose inputs lead with a fixed extent, which a batch can take the place of; open ones have names.
bool leadsFixed(const WorkloadRecipe& recipe, const Workload* workload) {
    if (!workload || !qs(recipe.source).endsWith(QLatin1String(".onnx"), Qt::CaseInsensitive)) return false;
    return std::ranges::any_of(workload->graph.inputs, [&](TensorId id) {
        const Tensor* input = workload->graph.tensor(id);
        return input && !input->shape.empty() && input->shape.front().symbol.empty();
    });
}

/// The extent that a symbol was given, or taken as.
std::int64_t extentOf(const Graph& graph, const std::string& symbol) {
    for (const TensorId id : graph.inputs)
        if (const Tensor* input = graph.tensor(id))
            for (const Dim& dim : input->shape)
                if (dim.symbol == symbol && dim.known()) return dim.value;
    return 1;
}

}  // namespace

WorkloadForm::WorkloadForm(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
}

void WorkloadForm::show(const WorkloadRecipe& recipe, const WorkloadInfo* info, WorkloadPtr workload,
                        std::shared_ptr<const DeviceView> device) {
    device_ = std::move(device);
    const bool same = recipe.source == recipe_.source;
    // While it loads again, what the workload before said of its structure still holds.
    const bool transformer = workload ? workload->transformer.has_value() : same && workload_ && workload_->transformer;
    recipe_ = recipe;
    if (info) usual_ = info->usual;
    if (workload || !same) workload_ = std::move(workload);
    QStringList symbols;
    for (const auto& [symbol, extent] : recipe.options.bindings) symbols << qs(symbol);
    if (workload_)
        for (const std::string& symbol : workload_->graph.symbols())
            if (!symbols.contains(qs(symbol))) symbols << qs(symbol);
    const bool fixedBatch = leadsFixed(recipe, workload_.get());
    const QString wanted = QStringLiteral("%1|%2|%3|%4")
                               .arg(qs(recipe.source))
                               .arg(transformer)
                               .arg(fixedBatch)
                               .arg(symbols.join(QLatin1Char(',')));
    if (wanted != built_) {
        built_ = wanted;
        build(info, transformer, fixedBatch, symbols);
    }
    title_->setFullText(info        ? qs(info->name)
                        : workload_ ? qs(workload_->name)
                                    : qs(recipe.source).section(QLatin1Char('/'), -1));
    fill();
}

AttributeRow* WorkloadForm::addRow(const RowSpec& spec) {
    auto* row = new AttributeRow(spec, page_);
    column_->addWidget(row);
    rows_[spec.id] = row;
    connect(row, &AttributeRow::edited, this,
            [this, id = spec.id](const QString& text, EditPhase phase) { change(id, text, phase); });
    connect(row, &AttributeRow::turnRequested, this, [this, id = spec.id] { emit knobRequested(id); });
    return row;
}

void WorkloadForm::addCount(const QString& id, const QString& label, const QString& meaning, double low, double high) {
    RowSpec row;
    row.id = id;
    row.label = label;
    row.meaning = meaning;
    row.dimension = Dimension::Count;
    row.lowest = low;
    row.highest = high;
    row.explorable = true;
    row.powersOfTwo = true;
    row.clearable = false;
    row.turns = !id.startsWith(bindingPrefix);
    addRow(row)->edit()->setCheck(checkPositive);
}

void WorkloadForm::addChoice(const QString& id, const QString& label, const QString& meaning,
                             const QStringList& choices) {
    RowSpec row;
    row.id = id;
    row.label = label;
    row.meaning = meaning;
    row.form = AttributeForm::Choice;
    row.choices = choices;
    row.clearable = false;
    row.turns = id != typeRow && !choices.contains(asTheRest());
    addRow(row);
}

void WorkloadForm::build(const WorkloadInfo* info, bool transformer, bool fixedBatch, const QStringList& symbols) {
    rows_.clear();
    flash_ = nullptr;
    page_ = new QWidget;
    page_->setObjectName(QStringLiteral("inspector.workload"));
    column_ = new QVBoxLayout(page_);
    column_->setContentsMargins(12, 8, 12, 12);
    column_->setSpacing(4);
    title_ = new Label({}, FontRole::Title, Tone::Normal, page_);
    title_->setElided(true);
    title_->setBold(true);
    column_->addWidget(title_);
    // Of a file its folder, as which a model is often called, and its name; the tip has the whole way.
    description_ = new Label(info ? qs(info->description) : qs(recipe_.source).section(QLatin1Char('/'), -2),
                             FontRole::Small, Tone::Muted, page_);
    description_->setWordWrap(true);
    if (!info) description_->setToolTip(qs(recipe_.source));
    if (info && !info->source.empty()) description_->setToolTip(tr("Source: %1").arg(qs(info->source)));
    column_->addWidget(description_);

    const bool builder = info || transformer;  // made by us from parameters, and not read as a fixed graph
    const bool typed = !builder && readFromGraph(recipe_);
    if (builder || typed || fixedBatch || !symbols.isEmpty())
        column_->addWidget(new SectionHeader(tr("Options"), page_));
    if (builder) {
        addCount(QStringLiteral("batch"), tr("Batch"), tr("Independent inputs that are computed together."), 1, 1024);
        if (info ? info->hasSequence : transformer)
            addCount(QStringLiteral("sequence"), tr("Sequence"),
                     tr("Tokens of context; in decode, the length of the KV cache that is read."), 16, 131072);
        if (info && info->hasImage) {
            RowSpec image;
            image.id = QStringLiteral("image");
            image.label = tr("Image");
            image.meaning = tr("Height and width in pixels.");
            image.dimension = Dimension::Count;
            image.lowest = 32;
            image.highest = 2048;
            image.clearable = false;
            image.turns = true;
            addRow(image)->edit()->setCheck(checkPositive);
        }
        const bool phases = info ? info->hasPhases : transformer;
        if (phases) {
            QStringList names;
            for (const Phase phase : {Phase::Forward, Phase::Prefill, Phase::Decode, Phase::TrainingForward})
                names << qs(toText(phase));
            addChoice(QStringLiteral("phase"), tr("Phase"),
                      tr("Prefill reads the whole prompt; decode makes one token with the KV cache."), names);
        }
        addChoice(QStringLiteral("weights"), tr("Weights"),
                  tr("Precision in which weights are stored, and how they share scales."), formatNames());
        addChoice(QStringLiteral("activations"), tr("Activations"),
                  tr("Precision of inputs and outputs of operators. With shared scales (fp8-tensor, fp8-block, nvfp4 "
                     "…) they are stored in 16 bits, and products quantise them."),
                  formatNames());
        if (phases) addChoice(QStringLiteral("kv"), tr("KV cache"), tr("Precision of the KV cache."), dtypeNames());
        if (phases || transformer) {
            flash_ = new QCheckBox(tr("Flash attention"), page_);
            flash_->setObjectName(QStringLiteral("inspector.flash"));
            flash_->setAccessibleName(tr("Flash attention"));
            flash_->setToolTip(
                tr("On: attention keeps its scores on the chip. Off: they are written to memory and read back."));
            column_->addWidget(flash_, 0, Qt::AlignLeft);
            connect(flash_, &QCheckBox::toggled, this, [this](bool on) {
                change(QStringLiteral("flash"), on ? QStringLiteral("1") : QString(), EditPhase::Commit);
            });
        }
    }
    if (!builder && fixedBatch)
        addCount(QStringLiteral("batch"), tr("Batch"),
                 tr("Leading extent of every input, instead of the 1 in the file. Refused if an operator of the file "
                    "needs that 1."),
                 1, 1024);
    if (typed)
        addChoice(typeRow, tr("Type"), tr("Type of all weights and activations. Indices and masks keep their type."),
                  QStringList(ownTypes()) + dtypeNames());
    if (typed && hasOwnTypes(recipe_.source))
        addChoice(
            QStringLiteral("weights"), tr("Weights"),
            tr("How the weights of products and convolutions are stored. Narrower ones are read in fewer bytes, and "
               "products still compute in the type of their activations."),
            ownWeightNames());
    buildOffer();
    for (const QString& symbol : symbols)
        addCount(bindingPrefix + symbol, symbol, tr("Extent of the graph’s symbol “%1”.").arg(symbol), 1, 4096);

    column_->addWidget(new SectionHeader(tr("One pass"), page_));
    totals_ = new FactList(page_);
    column_->addWidget(totals_);
    transformerHeader_ = new SectionHeader(tr("Model"), page_);
    column_->addWidget(transformerHeader_);
    transformer_ = new FactList(page_);
    column_->addWidget(transformer_);
    problemsHeader_ = new SectionHeader(tr("Warnings"), page_);
    column_->addWidget(problemsHeader_);
    problems_ = new ProblemList(page_);
    column_->addWidget(problems_);
    column_->addStretch(1);
    if (QWidget* before = takeWidget()) {
        before->hide();
        before->deleteLater();
    }
    setWidget(page_);
    arrange();
}

void WorkloadForm::buildOffer() {
    lacks_ = new Label({}, FontRole::Small, Tone::Warning, page_);
    lacks_->setObjectName(QStringLiteral("inspector.type.lacks"));
    lacks_->setWordWrap(true);
    useNearest_ = new QPushButton(page_);
    useNearest_->setObjectName(QStringLiteral("inspector.type.use"));
    useNearest_->setAccessibleName(tr("Use the nearest type"));
    useNearest_->setToolTip(tr("Changes the unsupported type to the nearest type of the device"));
    column_->addWidget(lacks_);
    column_->addWidget(useNearest_, 0, Qt::AlignLeft);
    connect(useNearest_, &QPushButton::clicked, this, [this] {
        if (const auto lacking = lackingType(workload_->costs, *device_))
            emit typeRequested(lacking->type, lacking->nearest);
    });
}

void WorkloadForm::offerType() {
    const auto lacking = workload_ && device_ ? lackingType(workload_->costs, *device_) : std::nullopt;
    lacks_->setVisible(lacking.has_value());
    useNearest_->setVisible(lacking.has_value());
    if (!lacking) return;
    lacks_->setText(tr("%1 does not compute %2. Its products run as %3.")
                        .arg(qs(device_->name), qs(toText(lacking->type)), qs(toText(lacking->runsAs))));
    useNearest_->setText(tr("Use %1").arg(qs(toText(lacking->nearest))));
}

void WorkloadForm::fill() {
    offerType();
    const WorkloadOptions& options = recipe_.options;
    const auto count = [this](const QString& id, std::int64_t value, std::int64_t usual) {
        const auto found = rows_.find(id);
        if (found == rows_.end()) return;
        RowValue shown;
        const std::int64_t effective = value > 0 ? value : usual;
        if (effective > 0) {
            shown.measure = Measure{static_cast<double>(effective), false, {}};
            shown.text = QString::number(effective);
        }
        if (usual > 0) shown.preset = QString::number(usual);
        found->second->show(shown);
    };
    const auto choice = [this](const QString& id, std::string_view value) {
        const auto found = rows_.find(id);
        if (found == rows_.end()) return;
        RowValue shown;
        shown.text = qs(value);
        found->second->show(shown);
    };
    count(QStringLiteral("batch"), options.batch, usual_.batch);
    count(QStringLiteral("sequence"), options.sequence, usual_.sequence);
    count(QStringLiteral("image"), options.image, usual_.image);
    choice(QStringLiteral("phase"), toText(options.phase));
    const bool ownWeights = hasOwnTypes(recipe_.source) && options.weightFormat() == WorkloadOptions{}.weightFormat();
    choice(QStringLiteral("weights"), ownWeights ? asTheRest().toStdString() : toText(options.weightFormat()));
    choice(QStringLiteral("activations"), toText(options.activationFormat()));
    choice(QStringLiteral("kv"), toText(options.kv));
    if (const auto found = rows_.find(typeRow); found != rows_.end()) {
        const auto one = workload_ ? oneTypeOf(workload_->graph, recipe_.whatIfs) : std::nullopt;
        RowValue shown;
        shown.mixed = !one && std::ranges::any_of(recipe_.whatIfs, [](const WhatIf& change) {
            return std::holds_alternative<RetypeKind>(change);
        });
        if (!shown.mixed) shown.text = one ? qs(toText(*one)) : ownTypes();
        if (shown.mixed) shown.mixedValues = tr("Some kinds of operators have a type of their own");
        found->second->show(shown);
    }
    for (const auto& [id, row] : rows_) {
        if (!id.startsWith(bindingPrefix)) continue;
        const auto bound = options.bindings.find(id.mid(bindingPrefix.size()).toStdString());
        const std::string symbol = id.mid(bindingPrefix.size()).toStdString();
        count(id,
              bound != options.bindings.end() ? bound->second
              : workload_                     ? extentOf(workload_->graph, symbol)
                                              : 1,
              0);
    }
    if (flash_) {
        const QSignalBlocker quiet(flash_);
        flash_->setChecked(options.flashAttention);
    }

    std::vector<Fact> totals, model;
    if (workload_) {
        const CostTotals& all = workload_->totals;
        const auto add = [&totals](const QString& label, double value, Dimension dimension, const QString& tip) {
            totals.push_back(
                {label, qs(formatMeasure(value, dimension)), tip + QLatin1Char('\n') + fullText(value, dimension)});
        };
        totals.push_back({tr("Operators"), countText(all.operators), tr("Executed, repeated blocks counted")});
        add(tr("Work"), all.flops, Dimension::Operations,
            tr("Floating-point operations of one pass; a multiply-add is two"));
        totals.push_back(
            {tr("Parameters"), qs(formatMeasure(all.parameters, Dimension::Number)), countText(all.parameters)});
        add(tr("Weights"), all.weightBytes, Dimension::Data, tr("Stored"));
        if (all.kvBytes > 0) add(tr("KV cache"), all.kvBytes, Dimension::Data, tr("Resident after the pass"));
        add(tr("Activations, peak"), all.peakActivationBytes, Dimension::Data, tr("Largest sum of live activations"));
        if (all.unresolved > 0)
            totals.push_back(
                {tr("Unresolved"), countText(all.unresolved), tr("Operators with unknown extents"), Tone::Warning});
        if (const auto& facts = workload_->transformer) {
            const auto whole = [&model](const QString& label, std::int64_t value) {
                if (value > 0) model.push_back({label, countText(static_cast<double>(value)), {}});
            };
            whole(tr("Layers"), facts->layers);
            whole(tr("Hidden"), facts->hidden);
            model.push_back(
                {tr("Heads, KV heads"), QStringLiteral("%1, %2").arg(facts->heads).arg(facts->kvHeads), {}});
            whole(tr("Vocabulary"), facts->vocabulary);
            if (facts->experts > 0)
                model.push_back({tr("Experts, per token"),
                                 QStringLiteral("%1, %2").arg(facts->experts).arg(facts->expertsPerToken),
                                 {}});
            if (facts->activeParameters > 0 && facts->activeParameters < facts->parameters)
                model.push_back({tr("Active parameters"), qs(formatMeasure(facts->activeParameters, Dimension::Number)),
                                 tr("That one token uses")});
            if (facts->kvBytesPerToken > 0)
                model.push_back(
                    {tr("KV per token"), qs(formatMeasure(facts->kvBytesPerToken, Dimension::Data)), tr("All layers")});
        }
    }
    transformerHeader_->setVisible(!model.empty());
    transformer_->setVisible(!model.empty());
    totals_->setFacts(std::move(totals));
    transformer_->setFacts(std::move(model));
    const Diagnostics warnings = workload_ ? workload_->warnings : Diagnostics{};
    problemsHeader_->setVisible(!warnings.empty());
    problems_->setVisible(!warnings.empty());
    problems_->setDiagnostics(warnings);
}

void WorkloadForm::change(const QString& id, const QString& text, EditPhase phase) {
    if (id == typeRow) {
        if (workload_ && phase != EditPhase::Begin)
            emit whatIfsEdited(inOneType(workload_->graph, recipe_.whatIfs, dtype(text.toStdString())), text);
        return;
    }
    WorkloadOptions next = recipe_.options;
    const auto whole = [&text] {
        const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
        return measure ? static_cast<std::int64_t>(measure->si) : std::int64_t{1};
    };
    const auto type = [&text](DType fallback) { return dtype(text.toStdString()).value_or(fallback); };
    if (id == QStringLiteral("batch")) next.batch = whole();
    if (id == QStringLiteral("sequence")) next.sequence = whole();
    if (id == QStringLiteral("image")) next.image = whole();
    if (id == QStringLiteral("phase")) next.phase = orrery::phase(text.toStdString()).value_or(next.phase);
    const auto format = numberFormat(text.toStdString());
    if (id == QStringLiteral("weights"))
        next.setWeights(text == asTheRest() ? WorkloadOptions{}.weightFormat() : format.value_or(next.weightFormat()));
    if (id == QStringLiteral("activations")) next.setActivations(format.value_or(next.activationFormat()));
    if (id == QStringLiteral("kv")) next.kv = type(next.kv);
    if (id == QStringLiteral("flash")) next.flashAttention = !text.isEmpty();
    if (id.startsWith(bindingPrefix)) next.bindings[id.mid(bindingPrefix.size()).toStdString()] = whole();
    emit edited(next, phase);
}

void WorkloadForm::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    arrange();
}

void WorkloadForm::arrange() {
    const int width = viewport()->width();
    const bool wide = width >= 400 * Theme::instance().scale();
    const int most = static_cast<int>(128 * Theme::instance().scale());
    for (auto& [id, row] : rows_) row->setWide(wide, wide ? most : std::clamp(width * 36 / 100, 72, most));
}

}  // namespace orrery::ui
