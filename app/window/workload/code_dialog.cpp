#include "app/window/workload/code_dialog.h"

#include "app/window/form_parts.h"
#include "store/project/project.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "workload/kernel_source.h"
#include "workload/spaces/spaces.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

struct Start {
    const char *title, *code;
};
constexpr Start starts[] = {
    {QT_TRANSLATE_NOOP("CodeDialog", "Matrix product"), "kernel:gemm m=4096 n=4096 k=4096 dtype=bf16"},
    {QT_TRANSLATE_NOOP("CodeDialog", "Attention, decode"),
     "kernel:decode-attention batch=8 heads=32 kv_heads=8 keys=4096 head_dim=128 dtype=bf16"},
    {QT_TRANSLATE_NOOP("CodeDialog", "Attention, prefill"),
     "kernel:prefill-attention heads=32 kv_heads=8 queries=4096 keys=4096 head_dim=128 causal=yes dtype=bf16"},
    {QT_TRANSLATE_NOOP("CodeDialog", "Convolution"),
     "kernel:convolution batch=8 in_channels=64 out_channels=64 height=56 width=56 kernel_height=3 kernel_width=3 "
     "pad=1"},
    {QT_TRANSLATE_NOOP("CodeDialog", "Softmax"), "kernel:softmax m=4096 n=4096 dtype=bf16"},
    {QT_TRANSLATE_NOOP("CodeDialog", "Network of FBNet"), "fbnet:7 8 1 8 4 8 8 8 7 4 1 4 7 3 2 7 3 2 4 2 4 5"},
};

}  // namespace

CodeDialog::CodeDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("codeDialog"));
    setWindowTitle(tr("Add a kernel or a network by its code"));
    auto* column = new QVBoxLayout(this);
    auto* start = namedChoice(this, "code.start", tr("Start from"), tr("Copies an example into the line below"));
    for (const Start& each : starts) start->addItem(tr(each.title), QString::fromUtf8(each.code));
    code_ = named(new QLineEdit(this), "code.text", tr("Code"),
                  tr("`kernel:` with a kind and its fields, or a search space with the code of a network"));
    says_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
    says_->setObjectName(QStringLiteral("code.says"));
    says_->setWordWrap(true);
    says_->setMinimumHeight(4 * ui::Theme::instance().unit());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    add_ = buttons->button(QDialogButtonBox::Ok);
    add_->setText(tr("Add"));
    for (QWidget* each : std::initializer_list<QWidget*>{start, code_, says_}) column->addWidget(each);
    column->addStretch(1);
    column->addWidget(buttons);
    connect(start, &QComboBox::activated, this, [this, start] { code_->setText(start->currentData().toString()); });
    connect(code_, &QLineEdit::textChanged, this, &CodeDialog::read);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    code_->setText(start->currentData().toString());
    resize(90 * ui::Theme::instance().unit(), sizeHint().height());
}

std::optional<ProjectWorkload> CodeDialog::workload() const {
    const std::string source = code_->text().trimmed().toStdString();
    // A path would be opened while it is typed.
    if (!isKernelSource(source) && !searchSpaceOf(source)) return std::nullopt;
    const auto loaded = loadWorkload({source, {}});
    if (!loaded) return std::nullopt;
    return ProjectWorkload{(*loaded)->name, (*loaded)->recipe, {}};
}

void CodeDialog::read() {
    const std::string source = code_->text().trimmed().toStdString();
    const bool spelled = isKernelSource(source) || searchSpaceOf(source);
    const auto loaded = spelled ? loadWorkload({source, {}}) : Expected<WorkloadPtr>(WorkloadPtr{});
    add_->setEnabled(loaded && *loaded);
    if (!loaded) {
        says_->setTone(ui::Tone::Bad);
        says_->setFullText(ui::windowText(toText(loaded.error())));
    } else if (!*loaded) {
        says_->setTone(ui::Tone::Muted);
        says_->setFullText(tr("Begin with kernel: or with the name of a search space"));
    } else {
        const CostTotals& totals = (*loaded)->totals;
        says_->setTone(ui::Tone::Normal);
        says_->setFullText(
            tr("%1: %n operator(s), %2 MACs", nullptr, static_cast<int>((*loaded)->graph.operators.size()))
                .arg(ui::qs((*loaded)->name), ui::countText(totals.macs)));
    }
}

}  // namespace orrery::app
