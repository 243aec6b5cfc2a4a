#include "app/window/about_dialog.h"

#include "base/version.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

AboutDialog::AboutDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("about"));
    setWindowTitle(tr("About Orrery"));
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(unit * 3, unit * 3, unit * 3, unit * 2);
    column->setSpacing(unit * 3 / 2);
    auto* name = new QLabel(tr("Orrery %1").arg(ui::qs(buildVersion())), this);
    name->setProperty("role", "display");
    column->addWidget(name);
    auto* what =
        new QLabel(tr("A studio for performance modelling of machine-learning workloads: draw hardware, load a "
                      "model, and let many prediction methods answer one question at once."),
                   this);
    what->setWordWrap(true);
    column->addWidget(what);
    auto* licence = new QLabel(tr("Free software under the GNU General Public License, version 3 or later, without any "
                                  "warranty. Built with Qt %1 (LGPL), QCustomPlot (GPL), oneTBB, ONNX and XGBoost "
                                  "(Apache 2.0), yaml-cpp, fmt and nlohmann/json (MIT), SQLite (public domain), the "
                                  "Inter font (OFL) and Breeze icons (LGPL).")
                                   .arg(QString::fromLatin1(qVersion())),
                               this);
    licence->setObjectName(QStringLiteral("aboutLicence"));
    licence->setWordWrap(true);
    licence->setProperty("role", "muted");
    column->addWidget(licence);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    QPushButton* close = buttons->button(QDialogButtonBox::Close);
    close->setObjectName(QStringLiteral("aboutClose"));
    close->setAccessibleName(tr("Close"));
    close->setToolTip(tr("Close (Esc)"));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    column->addWidget(buttons);
    setMinimumWidth(unit * 58);
}

}  // namespace orrery::app
