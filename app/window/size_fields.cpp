#include "app/window/size_fields.h"

#include "app/document/commands/project_edits.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"

#include <QHBoxLayout>
#include <QLabel>

namespace orrery::app {

namespace {

constexpr double largest = 1e7;

std::optional<Diagnostic> checkSize(const QString& text) {
    const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
    if (!measure) return measure.error();
    if (measure->si >= 1 && measure->si <= largest) return std::nullopt;
    return Diagnostic{Severity::Error,   "workload.option",     "This is at least 1",
                      "1 to 10,000,000", "Type a whole number", {}};
}

// A config of a decoder has a sequence; a graph that was read has the sizes of its file.
bool hasSequence(const WorkloadRecipe& recipe) {
    if (const WorkloadInfo* info = builtinWorkload(recipe.source)) return info->hasSequence;
    return QString::fromStdString(recipe.source).endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
}

}  // namespace

SizeFields::SizeFields(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
    setObjectName(QStringLiteral("sizeFields"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(ui::Theme::instance().unit());
    batchRow_ = addField(QStringLiteral("batchField"), tr("Batch"), tr("Independent inputs that are computed together"),
                         batch_, &WorkloadOptions::batch);
    sequenceRow_ = addField(QStringLiteral("sequenceField"), tr("Sequence"),
                            tr("Tokens of context; in decode, the length of the KV cache that is read"), sequence_,
                            &WorkloadOptions::sequence);
    connect(&document_, &Document::scenarioChanged, this, &SizeFields::refresh);
    connect(&document_, &Document::workloadChanged, this, &SizeFields::refresh);
    connect(&document_, &Document::replaced, this, &SizeFields::refresh);
    refresh();
}

QWidget* SizeFields::addField(const QString& id, const QString& label, const QString& meaning, ui::ValueEdit*& edit,
                              std::int64_t WorkloadOptions::*size) {
    auto* box = new QWidget(this);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(ui::Theme::instance().unit() / 2);
    auto* name = new QLabel(label, box);
    edit = new ui::ValueEdit(box);
    edit->setObjectName(id);
    edit->setAccessibleName(label);
    edit->setToolTip(meaning);
    edit->setCheck(checkSize);
    edit->setMeasure(Dimension::Count);
    edit->setClearable(false);
    name->setBuddy(edit);
    row->addWidget(name);
    row->addWidget(edit);
    layout()->addWidget(box);
    connect(edit, &ui::ValueEdit::committed, this, [this, size](const QString& text) { set(size, text); });
    return box;
}

void SizeFields::setPresenting(bool presenting) {
    presenting_ = presenting;
    // Six digits in the type of a projector.
    for (ui::ValueEdit* edit : {batch_, sequence_})
        edit->setFixedWidth(edit->fontMetrics().horizontalAdvance(QStringLiteral("000000")) +
                            ui::Theme::instance().unit() * 3);
    refresh();
}

void SizeFields::refresh() {
    const ProjectWorkload* workload = document_.workload();
    const auto& scenarios = document_.state()->scenarios;
    const bool asked = presenting_ && workload && !scenarios.empty() && scenarios.front().task != "serving-run";
    setVisible(asked);
    if (!asked) return;
    const WorkloadOptions& options = workload->recipe.options;
    const WorkloadInfo* info = builtinWorkload(workload->recipe.source);
    batch_->setStored(QString::number(options.batch));
    const std::int64_t usual = info ? info->usual.sequence : 0;
    const std::int64_t sequence = options.sequence > 0 ? options.sequence : usual;
    sequence_->setStored(sequence > 0 ? QString::number(sequence) : QString());
    sequenceRow_->setVisible(hasSequence(workload->recipe));
}

void SizeFields::set(std::int64_t WorkloadOptions::*size, const QString& text) {
    const ProjectWorkload* workload = document_.workload();
    const auto measure = parseMeasure(text.toStdString(), Dimension::Count);
    if (!workload || !measure) return;
    WorkloadOptions options = workload->recipe.options;
    options.*size = static_cast<std::int64_t>(measure->si);
    if (options == workload->recipe.options) return;
    if (auto done = document_.apply(setWorkloadOptionsEdit(*document_.state(), document_.workloadIndex(), options));
        !done) {
        emit refused(done.error());
        refresh();
    }
}

}  // namespace orrery::app
